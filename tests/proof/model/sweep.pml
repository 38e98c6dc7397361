/* Changes that name no document (a truncated table, a partition that is gone), and the sweep that finds what they have left in
   Elasticsearch. README.md says what is modelled and what is left out; scripts/model runs it.

   index_is_view    when all is quiet, the document is what the view gives
   nothing_pending  when all is quiet, the checkpoint has passed every change and no job is left

   Writers, failures and Elasticsearch are one process each, and there are two replicators. Each step is atomic; whatever can
   happen between two steps is tried. Variants, each without one of the safeguards: SCAN_AT_ONCE, ONE_LOOK, PAGE_IN_HAND,
   JOIN_WAITING, FINISH_EARLY. */

#ifndef TRANSACTIONS
#define TRANSACTIONS 3      /* that writers commit */
#endif
#ifndef FAILURES
#define FAILURES 1          /* a replicator dies, or loses the lead without knowing it */
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 1          /* requests that are sent again though they have arrived, or will */
#endif

#define bit(n) (1 << (n))
#define has(set, n) (((set) & bit(n)) != 0)

/* --- The source. There is one document. Its state is the number of the commit that made it, 0 for "not there". --- */

byte commits;               /* so many there were */
byte view;                  /* the state of the document */
byte naming;                /* set of the commits that name the document; the others have changed "everything" */
byte checkpoint;            /* so many commits are dealt with */
byte jobs;                  /* set of the commits that a sweep has to follow */
bool backfill;              /* the job that fills the index is not done */
byte lead, epoch;

#define naming_between(from, to) (naming & (bit((to) + 1) - 1) & ~(bit((from) + 1) - 1))
#define others_between(from, to) ((bit((to) + 1) - 1) & ~(bit((from) + 1) - 1) & ~naming)

/* --- Elasticsearch, and the requests on their way to it --- */

typedef Item {
  byte phase;               /* FREE, SENT, ANSWERED, LATE */
  byte epoch, counter;      /* its version; the epoch also tells whose it is */
  byte state;               /* 0: a delete */
  byte before               /* checkpoint before the step that it belongs to; NOWHERE: it belongs to a job */
};
#define FREE 0
#define SENT 1
#define ANSWERED 2          /* it has its outcome, and the answer is on its way back */
#define LATE 3              /* timed out, repeated and acknowledged, and still on its way */
#define NOWHERE 255
Item item[3];

byte index;                 /* the state of the document */
byte index_version;         /* of its last write; 0: it never was there, or its deletion is forgotten */
byte listening;             /* set of the epochs whose replicator waits for answers */
byte leads_under[3];        /* the epoch of each replicator, which need not be the current one */
bool unsent[3];             /* whether it has read what it has not sent */
byte failures, timeouts;

#define version(i) (item[i].epoch * 16 + item[i].counter)

inline free(i) {
  item[i].phase = FREE; item[i].epoch = 0; item[i].counter = 0; item[i].state = 0; item[i].before = 0
}

inline apply(i) {           /* external_gte */
  if
  :: version(i) >= index_version -> index = item[i].state; index_version = version(i)
  :: else                   /* superseded */
  fi;
  if
  :: item[i].phase == SENT && has(listening, item[i].epoch) -> item[i].phase = ANSWERED
  :: else -> free(i)
  fi
}

#define of_deposed(i) (item[i].phase != FREE && item[i].epoch < epoch)
#define is_unanswered(i) (item[i].phase == SENT && item[i].epoch < epoch)
#define is_late(i) (item[i].phase == LATE || of_deposed(i))
#define is_unsent(replicator) (unsent[replicator] && leads_under[replicator] < epoch)

/* No write of an earlier leader is on its way, and none can be sent: a request ends with its time-out, and a leader that has not
   seen its own epoch lately sends nothing. The program waits for so long; the model has no clock. After a leader that ends with an
   answer to all that it has sent, it does not wait: what has been repeated may still be on its way then, and is no newer. */
#define write_lifetime_over \
  (!is_unanswered(0) && !is_unanswered(1) && !is_unanswered(2) && !is_unsent(1) && !is_unsent(2))

/* The version of a deleted document is forgotten at any time, but not while a request or a page in hand is older than the deletion,
   or nobody waits for it any more. */
#define is_older(i) (item[i].phase != FREE && version(i) < index_version)
#define may_forget \
  (!is_late(0) && !is_late(1) && !is_late(2) && !is_older(0) && !is_older(1) && !is_older(2) && !unsent[1] && !unsent[2])

inline request(i) {
  if
  :: item[i].phase == SENT || item[i].phase == LATE -> apply(i)
  :: item[i].phase == LATE || (item[i].phase == SENT && !has(listening, item[i].epoch)) -> free(i)  /* it never comes */
  :: item[i].phase == ANSWERED && timeouts < TIMEOUTS -> timeouts++; item[i].phase = SENT  /* the answer never comes: sent again */
  fi
}

proctype Elasticsearch() {
end:
  do
  :: atomic { request(0) }
  :: atomic { request(1) }
  :: atomic { request(2) }
  :: atomic { index == 0 && index_version != 0 && may_forget -> index_version = 0 }
  od
}

/* --- Writers, and what happens to the lead --- */

proctype Writers() {
end:
  do
  :: atomic { commits < TRANSACTIONS -> commits++; naming = naming | bit(commits); view = commits }  /* an insert, an update */
  :: atomic { commits < TRANSACTIONS && view != 0 -> commits++; view = 0 }                           /* a truncate */
  :: atomic { commits == TRANSACTIONS -> break }
  od
}

proctype Failures() {
end:
  do
  :: atomic { failures < FAILURES && lead != 0 -> failures++; lead = 0 }  /* its holder does not know yet: a zombie */
  :: atomic { commits == TRANSACTIONS -> failures = FAILURES; timeouts = TIMEOUTS; break }
  od
}

/* --- A replicator: stands by, leads, dies at any step and begins again --- */

#define mine leads_under[me]
#define in_hand unsent[me]

#define is_open(i) (item[i].epoch == mine && (item[i].phase == SENT || item[i].phase == ANSWERED))
#define in_flight (is_open(0) || is_open(1) || is_open(2))
#define is_before(i) (is_open(i) && item[i].counter <= wait_for)
#define some_before (is_before(0) || is_before(1) || is_before(2))
#define holds_it_back(i) (is_open(i) && item[i].before == checkpoint)
#define some_holds_it_back (holds_it_back(0) || holds_it_back(1) || holds_it_back(2))
#define a_free_request (item[0].phase == FREE || item[1].phase == FREE || item[2].phase == FREE)
#define may_send (!in_flight && a_free_request)  /* W1 */

inline put(i, its_number, its_state, position) {
  item[i].phase = SENT; item[i].epoch = mine; item[i].counter = its_number; item[i].state = its_state; item[i].before = position
}

inline send(its_number, its_state, position) {
  if
  :: item[0].phase == FREE -> put(0, its_number, its_state, position)
  :: item[0].phase != FREE && item[1].phase == FREE -> put(1, its_number, its_state, position)
  :: else -> put(2, its_number, its_state, position)
  fi
}

inline consider(i) {
  if
  :: is_open(i) && item[i].before < acknowledged -> acknowledged = item[i].before
  :: else
  fi
}

inline receive(i) {
  item[i].phase == ANSWERED && item[i].epoch == mine ->
    if
    :: free(i)
    :: timeouts < TIMEOUTS -> timeouts++; item[i].phase = LATE  /* it had been sent twice */
    fi
}

inline drop(i) {
  if
  :: item[i].phase == ANSWERED && item[i].epoch == mine -> free(i)
  :: else
  fi
}

/* When a scan may begin */
#if defined(SCAN_AT_ONCE)
#define may_scan (!in_hand)
#elif defined(PAGE_IN_HAND)
#define may_scan (!some_before)
#else
#define may_scan (!in_hand && !some_before)
#endif

/* What a sweep does */
#define ASLEEP 0
#define WAITING 1           /* for the requests that were taken over before it */
#define SCANNING 2          /* the scan has begun: what it finds is found */
#define DELETING 3          /* what it found is read and sent, and has no outcome yet */

proctype Replicator(byte me) {
  byte counter;             /* of the last transaction */
  byte read;                /* so many commits are read */
  byte number, state;       /* of the page of a job that is in hand */
  bool filled;              /* the page of the backfill is read */
  byte sweep, sweeping;     /* what it does; the set of jobs that it is for */
  byte wait_for;            /* the last request that was taken over before it */
  bool found, early;        /* by the scan; it began while a write of an earlier leader could be on its way */
  byte acknowledged;
end_stand_by:
  atomic { lead == 0 && (me == 1 || epoch != 0) ->  /* they are alike: 1 begins */
    lead = me; epoch++; mine = epoch; read = checkpoint; listening = listening | bit(mine) };
end_follow:
  do
  :: atomic { epoch == mine && read < commits && (naming_between(read, commits) == 0 || may_send) ->  /* the tail */
       if
       :: naming_between(read, commits) != 0 -> counter++; send(counter, view, read)
       :: else
       fi;
#ifdef PAGE_IN_HAND
       if                    /* what is in hand is not counted */
       :: others_between(read, commits) != 0 && sweep == ASLEEP ->
            sweep = WAITING; sweeping = others_between(read, commits); wait_for = counter
       :: else
       fi;
#endif
       jobs = jobs | others_between(read, commits);
       read = commits }
  :: atomic { epoch == mine && backfill && !filled && !in_hand ->  /* its page: what the view has */
       filled = true;
       if
       :: view != 0 -> counter++; in_hand = true; number = counter; state = view
       :: else
       fi }
  :: atomic { in_hand && may_send -> send(number, state, NOWHERE); in_hand = false; number = 0; state = 0 }
  :: atomic { epoch == mine && filled && backfill && !in_hand && !in_flight -> backfill = false }
  :: atomic { epoch == mine && read != checkpoint && !some_holds_it_back ->  /* a save */
       acknowledged = read;
       consider(0); consider(1); consider(2);
       checkpoint = acknowledged; acknowledged = 0 }
#ifdef JOIN_WAITING
  :: atomic { jobs != 0 && sweep == ASLEEP && !in_hand -> sweep = WAITING; wait_for = counter }
  :: atomic { epoch == mine && sweep == WAITING && sweeping == 0 -> sweeping = jobs }
  :: atomic { sweep == WAITING && sweeping != 0 && may_scan ->
#else
  :: atomic { epoch == mine && jobs != 0 && sweep == ASLEEP && !in_hand ->  /* it begins: what comes later does not join it */
       sweep = WAITING; sweeping = jobs; wait_for = counter }
  :: atomic { sweep == WAITING && may_scan ->
#endif
       sweep = SCANNING; found = index != 0; early = !write_lifetime_over }
  :: atomic { epoch == mine && sweep == SCANNING && !in_hand ->  /* its page: which of what was found does the view not have? */
       if
       :: found && view == 0 -> counter++; in_hand = true; number = counter; state = 0
       :: else
       fi;
       found = false; sweep = DELETING }
#ifdef FINISH_EARLY
  :: atomic { epoch == mine && sweep == DELETING ->
#else
  :: atomic { epoch == mine && sweep == DELETING && !in_hand && !in_flight ->
#endif
#ifdef ONE_LOOK
       early = false;
#endif
       if
       :: early && write_lifetime_over -> sweep = WAITING; wait_for = 0; early = false
       :: !early -> sweep = ASLEEP; jobs = jobs & ~sweeping; sweeping = 0; wait_for = 0
       fi }
  :: atomic { epoch != mine && !in_hand -> goto stop }  /* it has nothing left to send, and its transactions come to nothing */
  :: atomic { receive(0) }
  :: atomic { receive(1) }
  :: atomic { receive(2) }
  :: atomic { failures < FAILURES -> failures++; goto stop }
  od;
stop:                                   /* by death, or by an error after which it begins anew: answers reach nobody */
  atomic {
    if
    :: lead == me && epoch == mine -> lead = 0
    :: else
    fi;
    drop(0); drop(1); drop(2);
    listening = listening & ~bit(mine);
    mine = 0; counter = 0; read = 0; in_hand = false; number = 0; state = 0; filled = false; sweep = ASLEEP;
    sweeping = 0; wait_for = 0; found = false; early = false; acknowledged = 0;
    goto end_stand_by
  }
}

/* When nothing can happen any more */
proctype Quiet() {
  atomic {
    timeout ->
      assert(index == view);                                              /* index_is_view */
      assert(checkpoint == commits && jobs == 0 && !backfill)             /* nothing_pending */
  }
}

init {
  atomic {
    commits = 1; view = 1; naming = bit(1); checkpoint = 1; backfill = true;  /* the row was there before the index */
    run Writers(); run Failures(); run Elasticsearch(); run Replicator(1); run Replicator(2); run Quiet()
  }
}
