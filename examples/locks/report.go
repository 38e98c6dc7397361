// Writes a report of three chapters alone, under a lock of its name: go run report.go http://127.0.0.1:9200 sales 3
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const body = `{"upsert": {"fence": 0, "chapters": []}, "scripted_upsert": true, "script": {
  "source": "if (ctx._source.fence > params.token) { ctx.op = 'noop' } else { ctx._source.fence = params.token; ctx._source.chapters.add(params.chapter) }",
  "params": {"token": %d, "chapter": %d}}}`

func require(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	url, name := os.Args[1], os.Args[2]
	chapters, err := strconv.Atoi(os.Args[3])
	require(err)

	held := exec.Command("lockstep", "lock", "--exclusive", name, "--wait", "5m", "--hold")
	held.Stderr = os.Stderr
	input, err := held.StdinPipe()
	require(err)
	output, err := held.StdoutPipe()
	require(err)
	require(held.Start())
	var lock struct{ Token int64 }
	if json.NewDecoder(output).Decode(&lock) != nil {
		held.Wait()
		os.Exit(held.ProcessState.ExitCode()) // 4: the lock was not to be had
	}
	// The lock is lost when lockstep ends before we tell it to: then the work ends at once.
	ended := make(chan struct{})
	go func() {
		require(held.Wait())
		close(ended)
	}()

	for chapter := 1; chapter <= chapters; chapter++ {
		time.Sleep(100 * time.Millisecond) // the work
		reply, err := http.Post(url+"/"+name+"/_update/1?retry_on_conflict=9", "application/json",
			strings.NewReader(fmt.Sprintf(body, lock.Token, chapter)))
		require(err)
		text, err := io.ReadAll(reply.Body)
		require(err)
		reply.Body.Close()
		if reply.StatusCode/100 != 2 {
			log.Fatal(string(text))
		}
		if strings.Contains(string(text), `"result":"noop"`) {
			log.Fatal("somebody has written under a later lock")
		}
	}

	input.Close()
	<-ended
}
