"""Bots in any language: processes of their own that are sent JSON lines and answer with moves (docs/protocol.md)."""
