/* Replication from the source into Elasticsearch: what the checkpoint, the versions and the leadership guarantee, whatever
   dies on the way. README.md says what is modelled and what is left out; scripts/model runs it.

   never_backwards  no document goes from a newer committed state to an older one
   nothing_undone   Elasticsearch never has a state that the source has lost
   index_is_view    when all is quiet, each document is what the view gives
   nothing_pending  when all is quiet, the checkpoint has passed every change

   Writers, failures and Elasticsearch are one process each, and there are two replicators. Each step is atomic; whatever can
   happen between two steps is tried. Variants, each without one of the safeguards: NO_EPOCH, CHECKPOINT_ELSEWHERE,
   NO_SYNCHRONOUS_COMMIT, CHECKPOINT_BEFORE_ACK, SAVE_BY_DEPOSED, SEVERAL_IN_FLIGHT, OVERTAKING, LAST_ID,
   EARLY_FORGETTING. */

#ifndef TRANSACTIONS
#define TRANSACTIONS 3      /* that writers begin; at most 5 */
#endif
#ifndef FAILURES
#define FAILURES 1          /* of whatever kind: a replicator dies, the lead is lost, the source crashes */
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 1          /* requests that are sent again though they have arrived, or will */
#endif
#ifndef OPEN_TRANSACTIONS
#define OPEN_TRANSACTIONS 2 /* of writers, at the same time */
#endif
#ifndef DOCUMENTS
#define DOCUMENTS 2         /* that are changed, 1 or 2 */
#endif

#define bit(n) (1 << (n))
#define has(set, n) (((set) & bit(n)) != 0)
#define below(n) (bit(n) - 1)

/* --- The source. A set of transactions is a bit mask of ids. A state of a document is the number of the commit that made
   it, 0 for "never was there". --- */

byte next_id;               /* of the next transaction */
byte running, committed;    /* sets of transactions */
byte begun, commits;        /* how many there were, those that were lost included */
byte view[2];       /* the state of each document */
byte deleted;               /* set of the states in which the document is not in the view */
byte lost;                  /* set of the states that a crash of the source has undone */
byte restarts;              /* of the source: a session does not outlive one */

byte document_of[TRANSACTIONS], state_of[TRANSACTIONS]; /* what a committed transaction has made, by its id */
byte log[TRANSACTIONS];     /* ids in the order of the commits */
byte log_end, durable_end;  /* what is visible; what a crash cannot take back */
byte id_floor;              /* ids below it are not handed out again: the log has one of them durably */

byte lead;                  /* replicator that has the advisory lock, 0: nobody */
byte epoch;
byte checkpoint;            /* set of transactions that have ended and are dealt with, as a snapshot says it */
#ifdef NO_SYNCHRONOUS_COMMIT
byte durable_checkpoint, checkpoint_log_end;
#endif

#define ended (below(next_id) & ~running)
#define unseen(position) (committed & ~(position))

/* --- Elasticsearch, and the requests on their way to it --- */

typedef Item {
  byte phase;               /* FREE, WAITING, SENT, ANSWERED, LATE */
  byte epoch, counter;      /* its version; the epoch also tells whose it is */
  byte document, state;
  byte before               /* position before the step that it belongs to */
};
#define FREE 0
#define SENT 1
#define ANSWERED 2          /* it has its outcome, and the answer is on its way back */
#define LATE 3              /* timed out, repeated and acknowledged, and still on its way */
#define WAITING 4           /* not sent: another write of its document is on its way, or waits before it */
Item item[4];               /* so many are under way at the same time */

byte index[2];         /* the state of each document */
byte index_version[2]; /* of its last write; 0: it never was there, or its deletion is forgotten */
byte listening;                /* set of the epochs whose replicator waits for answers */
byte leads_under[3];           /* the epoch of each replicator, which need not be the current one */
byte unsent[3];                /* set of the documents that it is to send */

#ifdef NO_EPOCH
#define version(i) (item[i].counter)
#else
#define version(i) (item[i].epoch * 16 + item[i].counter)
#endif

/* --- What must hold --- */

byte failures, timeouts;    /* there have been; FAILURES, TIMEOUTS: nothing fails any more */
#define may_fail (failures < FAILURES)
#define may_time_out (timeouts < TIMEOUTS)

inline never_backwards(i) { assert(item[i].state >= index[item[i].document]) }
inline nothing_undone()   { assert(!has(lost, index[0]) && !has(lost, index[1])) }
inline index_is_view()    { assert(index[0] == view[0] && index[1] == view[1]) }
inline nothing_pending()  { assert(unseen(checkpoint) == 0) }

/* --- Writers: transactions begin, take their ids, and end in any order. All commits are asynchronous: how much of the log
   survives is decided by the crash. --- */

inline end_transaction(id) { running = running & ~bit(id) }

inline commit_transaction(id, which, deletes) {
  end_transaction(id);
  committed = committed | bit(id);
  commits++;
  document_of[id] = which;
  state_of[id] = commits;
  log[log_end] = id;
  log_end++;
  if
  :: deletes -> deleted = deleted | bit(commits)
  :: else
  fi;
  view[which] = commits
}

#define is_there(which) (view[which] != 0 && !has(deleted, view[which]))
#define begun_at_once \
  ((running & 1) + ((running >> 1) & 1) + ((running >> 2) & 1) + ((running >> 3) & 1) + ((running >> 4) & 1))

proctype Writers() {
  byte id;
end:
  do
  :: atomic { begun < TRANSACTIONS && begun_at_once < OPEN_TRANSACTIONS ->
       running = running | bit(next_id); next_id++; begun++ }
  :: atomic { running != 0 ->
       if
       :: has(running, 0) -> id = 0
       :: has(running, 1) -> id = 1
       :: has(running, 2) -> id = 2
       :: has(running, 3) -> id = 3
       :: has(running, 4) -> id = 4
       fi;
       if
       :: commit_transaction(id, 0, false)
       :: is_there(0) -> commit_transaction(id, 0, true)
       :: DOCUMENTS > 1 && commits != 0 -> commit_transaction(id, 1, false)       /* the documents are alike: the first is document 0 */
       :: is_there(1) -> commit_transaction(id, 1, true)
       :: end_transaction(id)                        /* rolled back */
       fi;
       id = 0 }
  :: atomic { begun == TRANSACTIONS && running == 0 -> break }
  od
}

/* --- Failures of the source and of the lead --- */

inline flush() {            /* a synchronous commit */
  durable_end = log_end;
  id_floor = next_id        /* its own id is in the log, above all ids that its snapshot knows */
}

inline crash_source(surviving) {
  restarts++;
  lead = 0;
  running = 0;
#ifdef NO_SYNCHRONOUS_COMMIT
  if
  :: surviving < checkpoint_log_end -> checkpoint = durable_checkpoint
  :: else
  fi;
#endif
  do
  :: log_end > surviving ->
       log_end--;
       committed = committed & ~bit(log[log_end]);
       lost = lost | bit(state_of[log[log_end]]);
       document_of[log[log_end]] = 0; state_of[log[log_end]] = 0; log[log_end] = 0
  :: else -> break
  od;
  next_id = id_floor;       /* and above what else has survived */
  view[0] = 0; view[1] = 0;
  position = 0;
  do
  :: position < log_end ->
       view[document_of[log[position]]] = state_of[log[position]];
       if
       :: log[position] >= next_id -> next_id = log[position] + 1
       :: else
       fi;
       position++
  :: else -> break
  od;
  flush();                  /* recovery ends with one */
#ifdef NO_SYNCHRONOUS_COMMIT
  durable_checkpoint = checkpoint;
  checkpoint_log_end = 0;
#endif
  nothing_undone()
}

proctype Failures() {
  byte position, surviving;
end:
  do
  :: atomic { may_fail ->
       failures++;
       surviving = durable_end;
       do
       :: surviving < log_end -> surviving++
       :: break
       od;
       crash_source(surviving);
       position = 0; surviving = 0 }
  :: atomic { may_fail && lead != 0 -> failures++; lead = 0 }  /* its holder does not know yet: a zombie */
  :: atomic { begun == TRANSACTIONS && running == 0 -> failures = FAILURES; timeouts = TIMEOUTS; break }
  od
}

/* --- Elasticsearch --- */

inline free(i) {
  item[i].phase = FREE; item[i].epoch = 0; item[i].counter = 0;
  item[i].document = 0; item[i].state = 0; item[i].before = 0
}

inline apply(i) {           /* external_gte */
  if
  :: version(i) >= index_version[item[i].document] ->
       never_backwards(i);
       index[item[i].document] = item[i].state;
       index_version[item[i].document] = version(i);
       nothing_undone()
  :: else                   /* superseded */
  fi;
  if
  :: item[i].phase == SENT && has(listening, item[i].epoch) -> item[i].phase = ANSWERED
  :: else -> free(i)
  fi
}

#define is_late(i, which) \
  (item[i].phase != FREE && item[i].document == which && (item[i].phase == LATE || item[i].epoch < epoch))

#define is_unsent(replicator, which) (has(unsent[replicator], which) && leads_under[replicator] < epoch)

/* The version of a deleted document is forgotten at any time, even while the leader holds a request back; but not while a
   request is on its way that nobody waits for any more, or while a deposed leader has one that it may still send. */
#ifdef EARLY_FORGETTING
#define may_forget(which) true
#else
#define may_forget(which) (!is_late(0, which) && !is_late(1, which) && !is_late(2, which) && !is_late(3, which) && \
                           !is_unsent(1, which) && !is_unsent(2, which))
#endif

inline request(i) {
  if
  :: item[i].phase == SENT || item[i].phase == LATE -> apply(i)
  :: item[i].phase == LATE || (item[i].phase == SENT && !has(listening, item[i].epoch)) -> free(i)  /* it never comes */
  :: item[i].phase == ANSWERED && may_time_out -> timeouts++; item[i].phase = SENT    /* the answer never comes: sent again */
  fi
}

inline forget(which) {
  has(deleted, index[which]) && index_version[which] != 0 && may_forget(which) -> index_version[which] = 0
}

proctype Elasticsearch() {
end:
  do
  :: atomic { request(0) }
  :: atomic { request(1) }
  :: atomic { request(2) }
  :: atomic { request(3) }
  :: atomic { forget(0) }
  :: atomic { forget(1) }
  od
}

/* --- A replicator: stands by, leads, dies at any step and begins again --- */

#define mine leads_under[me]
#define documents unsent[me]

inline die() { may_fail -> failures++; goto stop }

#define connected (generation == restarts)
#define is_on_its_way(i, which) \
  (item[i].epoch == mine && item[i].document == which && (item[i].phase == SENT || item[i].phase == ANSWERED))
#define in_flight(which) \
  (is_on_its_way(0, which) || is_on_its_way(1, which) || is_on_its_way(2, which) || is_on_its_way(3, which))
#define waits(i, which) (item[i].epoch == mine && item[i].document == which && item[i].phase == WAITING)
#define is_open(i, which) (is_on_its_way(i, which) || waits(i, which))
#define open(which) (is_open(0, which) || is_open(1, which) || is_open(2, which) || is_open(3, which))
#define idle (!open(0) && !open(1))

#ifdef SAVE_BY_DEPOSED
#define may_save true
#else
#define may_save (epoch == mine)
#endif

/* A2: the position before the first step that is not acknowledged. */
inline consider(i) {
  if
  :: (is_open(i, 0) || is_open(i, 1)) && item[i].counter < first -> first = item[i].counter; acknowledged = item[i].before
  :: else
  fi
}
inline find_acknowledged() {
  first = 255; acknowledged = read;
  consider(0); consider(1); consider(2); consider(3)
}

inline save(position) {
  checkpoint = position;
#ifdef NO_SYNCHRONOUS_COMMIT
  checkpoint_log_end = log_end
#else
#ifdef CHECKPOINT_ELSEWHERE
  durable_end = log_end     /* as if something else had flushed the log, to see what else is wrong with it */
#else
  flush()
#endif
#endif
}

inline go_without_commit() { /* what the snapshot saw is flushed; without a commit nothing is saved */
  if
  :: durable_end < seen -> durable_end = seen
  :: else
  fi;
  before = read; read = next; next = 0; first = 0
}

inline commit() {           /* saves what has been acknowledged */
  find_acknowledged();
  if
  :: documents == 0 -> acknowledged = next   /* nothing in flight, nothing new */
  :: else
  fi;
#ifdef CHECKPOINT_BEFORE_ACK
  acknowledged = next;
#endif
  save(acknowledged);
  before = read; read = next; next = 0; first = 0; acknowledged = 0;
  if
  :: documents == 0 ->
       before = 0;
       if
       :: epoch == mine && unseen(read) == 0 -> index_is_view()
       :: else
       fi
  :: else
  fi
}

/* W1: at most one write of a document in flight, and in their order. What cannot be sent waits, and nothing else does. */
#ifdef SEVERAL_IN_FLIGHT
#define must_wait(which) false
#else
#ifdef OVERTAKING
#define must_wait(which) in_flight(which)
#else
#define must_wait(which) open(which)
#endif
#endif

inline send(which, rendered) {
  if
  :: item[0].phase == FREE -> first = 0
  :: item[0].phase != FREE && item[1].phase == FREE -> first = 1
  :: item[0].phase != FREE && item[1].phase != FREE && item[2].phase == FREE -> first = 2
  :: else -> first = 3
  fi;
  item[first].phase = (must_wait(which) -> WAITING : SENT); item[first].epoch = mine; item[first].counter = counter;
  item[first].document = which; item[first].state = rendered; item[first].before = before
}

#define free_requests \
  ((item[0].phase == FREE) + (item[1].phase == FREE) + (item[2].phase == FREE) + (item[3].phase == FREE))

#define may_send (free_requests >= 2)

#define waits_before(i, other) \
  (item[other].phase == WAITING && item[other].epoch == mine && item[other].document == item[i].document && \
   item[other].counter < item[i].counter)
#define is_next(i) (!waits_before(i, 0) && !waits_before(i, 1) && !waits_before(i, 2) && !waits_before(i, 3))

inline go_on(i) {
  item[i].phase == WAITING && item[i].epoch == mine && !in_flight(item[i].document) && is_next(i) -> item[i].phase = SENT
}

inline receive(i) {
  item[i].phase == ANSWERED && item[i].epoch == mine ->
    if
    :: free(i)
    :: may_time_out -> timeouts++; item[i].phase = LATE; item[i].before = 0  /* it had been sent twice */
    fi
}

inline drop(i) {
  if
  :: (item[i].phase == ANSWERED || item[i].phase == WAITING) && item[i].epoch == mine -> free(i)
  :: else
  fi
}

/* What this snapshot sees and the last one did not: all of it, or the lowest id of it. */
#define batch unseen(read)
#define lowest(set) ((set) & ~((set) - 1) & 255)

inline read_changes() {
  chunk = batch;
  next = ended;
  if
  :: chunk != lowest(chunk) -> chunk = lowest(chunk); next = read | chunk
  :: true
  fi;
#ifdef LAST_ID
  /* everything up to the highest id that was read counts as dealt with */
  next = read;
  first = 0;
  do
  :: first < next_id -> first++; if :: has(chunk, first - 1) -> next = next | below(first) :: else fi
  :: else -> break
  od;
#endif
  first = 0;
  do
  :: first < next_id ->
       if
       :: has(chunk, first) -> documents = documents | bit(document_of[first])
       :: else
       fi;
       first++
  :: else -> break
  od;
  if :: has(documents, 0) -> rendered0 = view[0] :: else fi;
  if :: has(documents, 1) -> rendered1 = view[1] :: else fi;
  chunk = 0
}

#ifdef LAST_ID
#define news (batch != 0)
#define unsaved (checkpoint != read)
#else
#define news (batch != 0)
#define unsaved (checkpoint != ended)
#endif

proctype Replicator(byte me) {
  byte generation;                      /* of the source, that the session belongs to */
  byte counter;                         /* of the last transaction */
  byte read, next;                      /* positions: of what was read; after the open transaction */
  byte before;                          /* position before the step that is to be sent */
  byte chunk;                           /* transactions that are read */
  byte rendered0, rendered1;            /* states */
  byte seen;                            /* end of the log that the snapshot sees */
  byte first, acknowledged;
end_stand_by:
  atomic { lead == 0 && (me == 1 || epoch != 0) -> lead = me; generation = restarts };  /* they are alike: 1 begins */
  if                                    /* raise the epoch, synchronously; load the position */
  :: atomic { connected -> epoch++; mine = epoch; flush(); read = checkpoint; listening = listening | bit(mine) }
  :: atomic { !connected -> goto stop }
  :: atomic { die() }
  fi;
end_follow:
  do
  :: atomic { connected && news && may_save ->  /* a snapshot: read what has changed, render it */
       read_changes(); seen = log_end; counter++; first = 0; goto settle }
  :: atomic { connected && !news && idle && unsaved && may_save ->
#ifdef LAST_ID
       next = read;
#else
       next = ended;
#endif
       commit() }
  :: atomic { connected && (news || idle && unsaved) && !may_save -> goto stop }  /* its transaction would come to nothing */
  :: atomic { !connected -> goto stop }
  :: atomic { receive(0) }
  :: atomic { receive(1) }
  :: atomic { receive(2) }
  :: atomic { receive(3) }
  :: atomic { go_on(0) }
  :: atomic { go_on(1) }
  :: atomic { go_on(2) }
  :: atomic { go_on(3) }
  :: atomic { die() }
  od;
settle:                                 /* durably, before Elasticsearch is shown anything */
  if
  :: atomic { connected && may_save -> commit(); seen = 0 }
#ifndef NO_SYNCHRONOUS_COMMIT
  :: atomic { connected -> go_without_commit(); seen = 0 }   /* the log happens to be flushed so far; the epoch was right in the snapshot */
#endif
  :: atomic { !connected || !may_save -> goto stop }
  :: atomic { die() }
  fi;
  do                                    /* send the bulk request */
  :: atomic { may_send ->
       if
       :: has(documents, 0) -> send(0, rendered0)
       :: else
       fi;
       if
       :: has(documents, 1) -> send(1, rendered1)
       :: else
       fi;
       documents = 0; rendered0 = 0; rendered1 = 0; before = 0; first = 0; goto end_follow }
  :: atomic { receive(0) }
  :: atomic { receive(1) }
  :: atomic { receive(2) }
  :: atomic { receive(3) }
  :: atomic { go_on(0) }
  :: atomic { go_on(1) }
  :: atomic { go_on(2) }
  :: atomic { go_on(3) }
  :: atomic { die() }
  od;
stop:                                   /* by death, or by an error after which it begins anew: answers reach nobody */
  atomic {
    if
    :: lead == me && connected -> lead = 0
    :: else
    fi;
    drop(0); drop(1); drop(2); drop(3);
    listening = listening & ~bit(mine);
    generation = 0; mine = 0; counter = 0; read = 0; next = 0; before = 0; chunk = 0; seen = 0; documents = 0;
    rendered0 = 0; rendered1 = 0; first = 0; acknowledged = 0;
    goto end_stand_by
  }
}

/* When nothing can happen any more */
proctype Quiet() {
  atomic { timeout -> index_is_view(); nothing_pending() }
}

init {
  atomic { run Writers(); run Failures(); run Elasticsearch(); run Replicator(1); run Replicator(2); run Quiet() }
}
