/* A page of a job that is read beside the tail, on a connection of its own: which number it gets, and what becomes of it when the
   tail overtakes it. README.md says what is modelled and what is left out; scripts/model runs it.

   never_backwards  the document does not go from a newer committed state to an older one
   nothing_undone   Elasticsearch never has a state that a crash of the source could take back
   index_is_view    when all is quiet, the document is what the view gives
   nothing_pending  when all is quiet, the checkpoint has passed every change and the job is done

   Writers, failures and Elasticsearch are one process each, and there are two replicators. Each step is atomic; whatever can
   happen between two steps is tried. Variants, each without one of the safeguards: NUMBER_FIRST, NUMBER_LAST, SEND_OVERTAKEN,
   PAGE_UNSETTLED, PAGE_OF_DEPOSED. */

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

/* --- The source. There is one document. Its state is the number of the commit that made it. --- */

byte commits;               /* so many there were; the last one made what the view gives */
byte durable;               /* so many of them a crash cannot take back */
byte deleted;               /* set of the states in which the document is not in the view */
byte checkpoint;            /* so many commits are dealt with */
bool job;                   /* it writes the document, and is not done */
byte lead, epoch;

#define view commits

/* --- Elasticsearch, and the requests on their way to it --- */

typedef Item {
  byte phase;               /* FREE, SENT, ANSWERED, LATE */
  byte epoch, counter;      /* its version; the epoch also tells whose it is */
  byte state;
  byte before               /* checkpoint before the step that it belongs to; NOWHERE: it belongs to the job */
};
#define FREE 0
#define SENT 1
#define ANSWERED 2          /* it has its outcome, and the answer is on its way back */
#define LATE 3              /* timed out, repeated and acknowledged, and still on its way */
#define NOWHERE 255
Item item[3];

byte index;                 /* the state of the document; 0: it never was there */
byte index_version;         /* of its last write; 0: it never was there, or its deletion is forgotten */
byte listening;             /* set of the epochs whose replicator waits for answers */
byte leads_under[3];        /* the epoch of each replicator, which need not be the current one */
bool unsent[3];             /* whether it has read what it has not sent */
byte failures, timeouts;

#define version(i) (item[i].epoch * 16 + item[i].counter)

inline never_backwards(i) { assert(item[i].state >= index) }
inline nothing_undone(i)  { assert(item[i].state <= durable) }

inline free(i) {
  item[i].phase = FREE; item[i].epoch = 0; item[i].counter = 0; item[i].state = 0; item[i].before = 0
}

inline apply(i) {           /* external_gte */
  if
  :: version(i) >= index_version ->
       never_backwards(i);
       nothing_undone(i);
       index = item[i].state;
       index_version = version(i)
  :: else                   /* superseded */
  fi;
  if
  :: item[i].phase == SENT && has(listening, item[i].epoch) -> item[i].phase = ANSWERED
  :: else -> free(i)
  fi
}

/* The version of a deleted document is forgotten at any time, even while the leader has an older page in hand; but not while a
   request is on its way that nobody waits for any more, or while a deposed leader has one that it may still send. */
#define is_late(i) (item[i].phase == LATE || (item[i].phase != FREE && item[i].epoch < epoch))
#define is_unsent(replicator) (unsent[replicator] && leads_under[replicator] < epoch)
#define may_forget (!is_late(0) && !is_late(1) && !is_late(2) && !is_unsent(1) && !is_unsent(2))

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
  :: atomic { has(deleted, index) && index_version != 0 && may_forget -> index_version = 0 }
  od
}

/* --- Writers, and what happens to the lead --- */

proctype Writers() {
end:
  do
  :: atomic { commits < TRANSACTIONS -> commits++ }
  :: atomic { commits < TRANSACTIONS && !has(deleted, view) -> commits++; deleted = deleted | bit(commits) }
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

/* --- A replicator: stands by, leads, dies at any step and begins again. The tail and whatever is sent are one thread, which
   does nothing else between the tail's snapshot and its sending. The page is read by another one, at any time. --- */

#define mine leads_under[me]

#define is_open(i) (item[i].epoch == mine && (item[i].phase == SENT || item[i].phase == ANSWERED))
#define in_flight (is_open(0) || is_open(1) || is_open(2))
#define holds_it_back(i) (is_open(i) && item[i].before == checkpoint)
#define some_holds_it_back (holds_it_back(0) || holds_it_back(1) || holds_it_back(2))
#define is_of_job(i) (is_open(i) && item[i].before == NOWHERE)
#define job_in_flight (is_of_job(0) || is_of_job(1) || is_of_job(2))
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
    :: timeouts < TIMEOUTS -> timeouts++; item[i].phase = LATE; item[i].before = 0  /* it had been sent twice */
    fi
}

inline drop(i) {
  if
  :: item[i].phase == ANSWERED && item[i].epoch == mine -> free(i)
  :: else
  fi
}

/* Durably, before Elasticsearch is shown anything: by a commit, which a deposed leader cannot make, or because the log happens to
   be flushed as far as the snapshot saw. Then it is enough that the epoch in the snapshot was right. */
inline settle(seen) {
  if
  :: epoch == mine -> durable = commits
  :: true ->
       if
       :: durable < seen -> durable = seen
       :: else
       fi
  fi
}

#ifdef PAGE_OF_DEPOSED
#define may_read_page (mine != 0)
#else
#define may_read_page (epoch == mine)
#endif

#ifdef SEND_OVERTAKEN
#define is_dropped false
#else
#define is_dropped overtaken
#endif

/* What a step of the tail, and the page, have come to */
#define NONE 0
#define BEGUN 1             /* in variants: the tail's step has its number and no snapshot, or the page no number */
#define READ 2
#define SETTLED 3
#define HANDED_OVER 4       /* the page alone */

proctype Replicator(byte me) {
  byte counter;             /* the last number */
  byte read;                /* so many commits are read */
  byte tail, tail_number, tail_state, tail_before;
  byte page, page_number, page_state;
  bool overtaken;           /* since the page's snapshot the tail has sent a deletion */
  byte acknowledged;
end_stand_by:
  atomic { lead == 0 && (me == 1 || epoch != 0) ->  /* they are alike: 1 begins */
    lead = me; epoch++; mine = epoch; durable = commits; read = checkpoint; listening = listening | bit(mine) };
end_follow:
  do
  /* the tail */
#ifdef NUMBER_FIRST
  :: atomic { epoch == mine && tail == NONE && read < commits -> tail = BEGUN; counter++; tail_number = counter }
  :: atomic { epoch == mine && tail == BEGUN ->
       tail = READ; tail_state = view; tail_before = read; read = commits; unsent[me] = true }
#else
  :: atomic { epoch == mine && tail == NONE && read < commits ->
       tail = READ; counter++; tail_number = counter; tail_state = view; tail_before = read; read = commits;
       unsent[me] = true }
#endif
  :: atomic { tail == READ -> settle(tail_state); tail = SETTLED }
  :: atomic { tail == SETTLED && may_send ->
       send(tail_number, tail_state, tail_before);
       if
       :: page != NONE && page != HANDED_OVER && has(deleted, tail_state) && page_number < tail_number -> overtaken = true
       :: else
       fi;
       tail = NONE; tail_number = 0; tail_state = 0; tail_before = 0; unsent[me] = page != NONE && page != HANDED_OVER }
  :: atomic { epoch == mine && tail == NONE && read != checkpoint && !some_holds_it_back ->  /* a save */
       acknowledged = read;
       consider(0); consider(1); consider(2);
       checkpoint = acknowledged; acknowledged = 0; durable = commits }
  /* the page */
#ifdef NUMBER_LAST
  :: atomic { may_read_page && job && page == NONE -> page = BEGUN; page_state = view; unsent[me] = true }
  :: atomic { page == BEGUN -> page = READ; counter++; page_number = counter }
#else
  :: atomic { may_read_page && job && page == NONE ->
       page = READ; counter++; page_number = counter; page_state = view;
       unsent[me] = true }
#endif
#ifdef PAGE_UNSETTLED
  :: atomic { page == READ && tail == NONE -> page = SETTLED }
#else
  :: atomic { page == READ && tail == NONE -> settle(page_state); page = SETTLED }
#endif
  :: atomic { page == SETTLED && tail == NONE && (is_dropped || may_send) ->
       if
       :: is_dropped        /* the tail has written what is newer */
       :: else -> send(page_number, page_state, NOWHERE)
       fi;
       page = HANDED_OVER; page_number = 0; page_state = 0; overtaken = false; unsent[me] = tail != NONE }
  :: atomic { epoch == mine && page == HANDED_OVER && job && !job_in_flight -> job = false; durable = commits }
  /* the rest */
  :: atomic { epoch != mine && tail <= BEGUN && (page == NONE || page == HANDED_OVER) -> goto stop }  /* its transactions come to nothing */
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
    mine = 0; counter = 0; read = 0; tail = NONE; tail_number = 0; tail_state = 0; tail_before = 0; page = NONE;
    page_number = 0; page_state = 0; overtaken = false; acknowledged = 0; unsent[me] = false;
    goto end_stand_by
  }
}

/* When nothing can happen any more */
proctype Quiet() {
  atomic {
    timeout ->
      assert(index == view);                                              /* index_is_view */
      assert(checkpoint == commits && !job)                               /* nothing_pending */
  }
}

init {
  atomic {
    commits = 1; durable = 1; checkpoint = 1; job = true;  /* the row was there before the index, which the job fills */
    run Writers(); run Failures(); run Elasticsearch(); run Replicator(1); run Replicator(2); run Quiet()
  }
}
