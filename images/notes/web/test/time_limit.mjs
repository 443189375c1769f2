// Ends the process of a test file in which one test runs too long, even where it leaves no turn to a timer:
// `--test-timeout` is one. Loaded before the tests; NOTES_TEST_LIMIT_MS is the time for each, NOTES_TEST_LATE
// the file that gets its name.
import { afterEach, beforeEach } from "node:test";
import { Worker } from "node:worker_threads";

const WATCH = `
const { parentPort, workerData } = require("node:worker_threads");
const { appendFileSync } = require("node:fs");
let timer;
parentPort.on("message", (name) => {
  clearTimeout(timer);
  if (!name) return;
  timer = setTimeout(() => {
    appendFileSync(workerData.late, \`test "\${name}": not over after \${workerData.limit} ms\\n\`);
    process.kill(process.pid, "SIGKILL");
  }, workerData.limit);
});`;

// Not in the process that starts those of the files.
if (process.env.NODE_TEST_CONTEXT) {
  const limit = Number(process.env.NOTES_TEST_LIMIT_MS);
  const watch = new Worker(WATCH, {
    eval: true,
    workerData: { limit, late: process.env.NOTES_TEST_LATE },
  });
  watch.unref();
  beforeEach(({ name }) => watch.postMessage(name));
  afterEach(() => watch.postMessage(""));
}
