#!/usr/bin/env python3
"""Writes a report of three chapters alone, under a lock of its name: report.py http://127.0.0.1:9200 sales 3"""
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request

url, name, chapters = sys.argv[1], sys.argv[2], int(sys.argv[3])

held = subprocess.Popen(["lockstep", "lock", "--exclusive", name, "--wait", "5m", "--hold"],
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
line = held.stdout.readline()
if not line:
    sys.exit(held.wait())  # 4: the lock was not to be had
token = json.loads(line)["token"]
# The lock is lost when lockstep ends before we tell it to: then the work ends at once.
threading.Thread(target=lambda: held.wait() and os._exit(1), daemon=True).start()

for chapter in range(1, chapters + 1):
    time.sleep(0.1)  # the work
    body = {"upsert": {"fence": 0, "chapters": []}, "scripted_upsert": True, "script": {
        "source": "if (ctx._source.fence > params.token) { ctx.op = 'noop' }"
                  " else { ctx._source.fence = params.token; ctx._source.chapters.add(params.chapter) }",
        "params": {"token": token, "chapter": chapter}}}
    request = urllib.request.Request(f"{url}/{name}/_update/1?retry_on_conflict=9", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        if json.load(reply)["result"] == "noop":
            sys.exit("somebody has written under a later lock")

held.stdin.close()
sys.exit(held.wait())
