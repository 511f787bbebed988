"""What the pages know of Borneo: its table, words, rules and rulesets. The rest of the server knows no rule."""
