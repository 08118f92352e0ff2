// What deltas weigh beside every other way of sending a new version, on synthetic series and on recorded views (§4): on
// no series more than the best of them, in whatever form the transport sends them, and the worst version no more than a keyframe.

import assert from "node:assert/strict";
import { test } from "node:test";
import { mean, sizes } from "./bytes.mjs";
import { allSeries, program } from "./series.mjs";

const OURS = "playerthree";
const all = await allSeries(await program("dev"));

test("the series are those that the figures name", () => {
  const names = all.map(({ series }) => series);
  assert.deepEqual(names, ["hot", "grow-append", "grow-slide", "churn", "deep", "agent-command"]);
  for (const { messages } of all) assert.equal(Object.keys(messages).length, 6);
});

for (const { series, messages } of all) {
  test(`${series}: deltas take no more bytes than the best peer, and the worst no more than a keyframe`, async () => {
    const ours = await sizes(messages[OURS]);
    const keyframes = await sizes(messages.resending);
    for (const form of Object.keys(ours)) {
      assert.ok(Math.max(...ours[form]) <= mean(keyframes[form]), `${form}: the worst version`);
    }
    for (const [peer, sent] of Object.entries(messages)) {
      if (peer === OURS) continue;
      for (const [form, each] of Object.entries(await sizes(sent))) {
        assert.ok(sum(ours[form]) <= sum(each), `${form}: ${sum(ours[form])} bytes, ${peer} ${sum(each)}`);
      }
    }
  });
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
