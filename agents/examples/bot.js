#!/usr/bin/env node
// A bot for borneo-protocol/1 in JavaScript: borneo arena "command:node agents/examples/bot.js" random
//
// It asks for batches, places high, ships where its companies have flags, and fulfils the best contract.
"use strict";
const readline = require("readline");

const HELLO = {
  protocol: "borneo-protocol/1", name: "example in JavaScript", wants: ["words"], batch: 64, memoryless: true,
};
let cards = [];
let points = {};

function worth(move, game, seat) {
  const [verb, ...rest] = move.split(" ");
  if (verb === "place") return -game.ladders[rest[0]].length;
  if (verb === "contract") return points[rest[0]] || 0;
  if (verb !== "ship") return 0;
  const port = game.ports.find((one) => one.place === Number(rest[1]));
  const leads = (company) => game.ladders[company][0] === seat;
  let flags = 0;
  for (const [company, count] of Object.entries(port.flags)) if (leads(company)) flags += count;
  for (const company of cards[Number(rest[0])].flags) if (leads(company)) flags += 1;
  return flags;
}

function choose(decision) {
  const worths = decision.moves.map((move) => worth(move, decision.words, decision.seat));
  return decision.moves[worths.indexOf(Math.max(...worths))];
}

function answer(told) {
  if (told.type === "hello") return HELLO;
  if (told.type === "batch") return { moves: told.decisions.map(choose) };
  if (told.type !== "rules") return null;
  cards = told.tables.cargo;
  points = Object.fromEntries(told.tables.contracts.map((contract) => [contract.kind, contract.points]));
  return { ready: true };
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const told = JSON.parse(line);
  if (told.type === "quit") process.exit(0);
  const said = answer(told);
  if (said) process.stdout.write(JSON.stringify(said) + "\n");
});
