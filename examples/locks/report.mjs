// Writes a report of three chapters alone, under a lock of its name: node report.mjs http://127.0.0.1:9200 sales 3
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

const [url, name, chapters] = process.argv.slice(2);

const held = spawn("lockstep", ["lock", "--exclusive", name, "--wait", "5m", "--hold"],
                   { stdio: ["pipe", "pipe", "inherit"] });
// Ends the work with lockstep: 4 when the lock was not to be had, 1 when it is lost, 0 when we are done.
held.on("exit", (code) => process.exit(code ?? 1));
const [line] = await once(createInterface(held.stdout), "line");
const { token } = JSON.parse(line);

for (let chapter = 1; chapter <= Number(chapters); ++chapter) {
  await pause(100); // the work
  const reply = await fetch(`${url}/${name}/_update/1?retry_on_conflict=9`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ upsert: { fence: 0, chapters: [] }, scripted_upsert: true, script: {
      source: "if (ctx._source.fence > params.token) { ctx.op = 'noop' }" +
              " else { ctx._source.fence = params.token; ctx._source.chapters.add(params.chapter) }",
      params: { token, chapter } } }),
  });
  if (!reply.ok) throw new Error(await reply.text());
  if ((await reply.json()).result === "noop") throw new Error("somebody has written under a later lock");
}

held.stdin.end();
