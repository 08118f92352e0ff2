// Why a collection of shared instances is deleted before another takes its place: one decoder lets go of its items
// twice where a single operation replaces it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { classesOf } from "./classes.mjs";
import { MAJORS, client, libraryOf } from "./decoders.mjs";

/** `Table { a: Card, list: [Card] }`, with one card in both. */
function table(major) {
  const types = [
    { name: "Card", fields: [["face", "uint8"]] },
    { name: "Table", fields: [["a", "Card"], ["list", ["Card"]]] },
  ];
  const follower = client(major, undefined, classesOf(types, libraryOf(major)).Table);
  follower.decode("80028101ff01800002ff028007");
  return follower;
}

for (const major of MAJORS) {
  test(`schema ${major} keeps an instance that is in a list which another list replaces`, () => {
    const follower = table(major);
    follower.decode("418103ff03800002"); // DELETE the list, ADD another with the same card.
    follower.decode("40"); // The list alone has the card now.
    follower.decode("ff028009");
    assert.deepEqual(follower.state(), { a: "undefined", list: [{ face: 9 }] });
    assert.equal(follower.structures(), 3);
  });
}

test("schema 3 loses it where one operation replaces the list", () => {
  const follower = table("3");
  follower.decode("c103ff03800002");
  assert.throws(() => {
    follower.decode("40");
    follower.decode("ff028009");
  });
});
