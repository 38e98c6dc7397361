/* Work beside the tail: what is due, and a job that reads the whole view. Which number a page gets, what it leaves out, what becomes
   of it when the tail overtakes it or a write fails, and when it is taken off the list. README.md says what is modelled and what is
   left out; scripts/model runs it.

   never_backwards  the document does not go from a newer committed state to an older one
   nothing_undone   Elasticsearch never has a state that a crash of the source could take back
   nothing_lost     what is taken off the list is in Elasticsearch, or a newer state (U1)
   wait_is_true     when a wait ends, Elasticsearch has the changes that it was for, or newer ones
   index_is_view    when all is quiet, the document is what the view gives
   nothing_pending  when all is quiet, the checkpoint has passed every change, the job is done and nothing is due

   Writers, failures, Elasticsearch and somebody who waits are one process each, and there are two replicators. Each step is atomic;
   whatever can happen between two steps is tried. Variants, each without one of the safeguards: NUMBER_FIRST, NUMBER_LAST,
   SEND_OVERTAKEN, OVERTAKEN_IS_DONE, PAGE_UNSETTLED, PAGE_OF_DEPOSED, LEAVE_OUT_WRITTEN, LEAVE_OUT_OLDER, LEAVE_OUT_SENT,
   TAKE_OFF_JOINED, TAKE_OFF_EARLY, JOIN_WHAT_GOES, FIND_IN_TWO, PASS_UNWRITTEN, SINCE_NOW, MOVED_AWAY. */

#ifndef TRANSACTIONS
#define TRANSACTIONS 3      /* states of the document, the first among them */
#endif
#ifndef FAILURES
#define FAILURES 1          /* a replicator dies, or loses the lead without knowing it */
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 0          /* requests that are sent again though they have arrived, or will */
#endif
#ifndef REFUSALS
#define REFUSALS 1          /* writes that fail, or that are given up since another one of the document takes long */
#endif
#ifndef NOTES
#define NOTES 1             /* entries of the list that the tail has made, at a time; 0 or 1 */
#endif
#ifndef JOB
#define JOB 0               /* 1: there is a job, which fills the index. 0: Elasticsearch has the first state */
#endif
#ifndef WAITS
#define WAITS 0             /* 1: somebody waits, from some time on */
#endif

#define bit(n) (1 << (n))
#define has(set, n) (((set) & bit(n)) != 0)

/* --- The source. There is one document. Its state is the number of the commit that made it. --- */

byte commits;               /* so many there were; the last one made what the view gives */
byte durable;               /* so many of them a crash cannot take back */
byte deleted;               /* set of the states in which the document is not in the view */
byte related;               /* set of the commits that do not name the document: the view leads to it */
byte checkpoint;            /* so many commits are dealt with */
bool job;                   /* it writes the document, and is not done */
byte lead, epoch;

#define view commits
#define are_all_related(from, to) (((bit((to) + 1) - 1) & ~(bit((from) + 1) - 1) & ~related) == 0)

/* What is due: [0] the tail has noted, [1] and [2] are behind a pause, since a write has failed. A pause may be over at any time. */
typedef Due {
  byte kind;                /* NONE, CHANGE, PAGE */
  byte as_of;               /* a version */
  byte needs;               /* the state for which it is due; the program does not know it */
  bool is_related;          /* of a change */
  bool is_young             /* due since a time after the wait has looked what is due */
};
#define NONE 0
#define CHANGE 1            /* its documents are still to be found */
#define PAGE 2
Due due[3];

/* --- Elasticsearch, and the requests on their way to it --- */

typedef Item {
  byte phase;               /* FREE, SENT, ANSWERED, REFUSED, LATE */
  byte epoch, counter;      /* its version; the epoch also tells whose it is */
  byte state;
  byte before               /* checkpoint before the step that it belongs to; of a page FOR_DUE or FOR_JOB */
};
#define FREE 0
#define SENT 1
#define ANSWERED 2          /* it has its outcome, and the answer is on its way back */
#define REFUSED 3           /* likewise, and it is not written */
#define LATE 4              /* timed out, repeated and acknowledged, and still on its way */
#define FOR_DUE 254
#define FOR_JOB 255
Item item[3];

byte index;                 /* the state of the document; 0: it never was there */
byte index_version;         /* of its last write; 0: it never was there, or its deletion is forgotten */
byte listening;             /* set of the epochs whose replicator waits for answers */
byte leads_under[3];        /* the epoch of each replicator, which need not be the current one */
bool unsent[3];             /* whether it has read what it has not sent */
byte failures, timeouts, refusals;
bool has_looked;            /* the wait: what becomes due now is none of it */
bool has_moved;             /* a change did not lead to the document any more when it was looked for */

#define version_of(its_epoch, its_counter) ((its_epoch) * 16 + (its_counter))
#define version(i) version_of(item[i].epoch, item[i].counter)

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
  :: item[i].phase == SENT && has(listening, item[i].epoch) && refusals < REFUSALS -> refusals++; item[i].phase = REFUSED
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

/* --- Writers, somebody who waits, and what happens to the lead --- */

proctype Writers() {
end:
  do
  :: atomic { commits < TRANSACTIONS -> commits++ }
  :: atomic { commits < TRANSACTIONS && !has(deleted, view) -> commits++; deleted = deleted | bit(commits) }
#if NOTES
  :: atomic { commits < TRANSACTIONS && !has(deleted, view) -> commits++; related = related | bit(commits) }
#endif
  :: atomic { commits == TRANSACTIONS -> break }
  od
}

/* The least number that something is due since, against the greatest number when the wait has looked first */
#define is_awaited(i) (due[i].kind != NONE && !due[i].is_young)

#ifdef MOVED_AWAY
#define may_miss false
#else
#define may_miss has_moved
#endif

proctype Waiter() {
  byte point;
  bool job_too;
end_begin:
  atomic { commits > 1 -> point = commits };
end_follow:
  atomic { checkpoint >= point -> has_looked = true; job_too = job };
end_finish:
  atomic { !is_awaited(0) && !is_awaited(1) && !is_awaited(2) && !(job_too && job) ->
    assert(index >= point || may_miss);                                   /* wait_is_true */
    point = 0; job_too = false }
}

proctype Failures() {
end:
  do
  :: atomic { failures < FAILURES && lead != 0 -> failures++; lead = 0 }  /* its holder does not know yet: a zombie */
  :: atomic { commits == TRANSACTIONS ->
       failures = FAILURES; timeouts = TIMEOUTS; refusals = REFUSALS; break }
  od
}

/* --- A replicator: stands by, leads, dies at any step and begins again. The tail, whatever is sent and whatever is saved are one
   thread, which does nothing else between the tail's snapshot and its sending. A page is read by another one, at any time, and the
   documents of a change are found by a third. --- */

#define mine leads_under[me]

/* What a step of the tail, and the page, have come to */
#define BEGUN 1             /* in variants: the tail's step has its number and no snapshot, or the page no number */
#define READ 2

#define is_open(i) (item[i].epoch == mine && item[i].phase >= SENT && item[i].phase <= REFUSED)
#define in_flight (is_open(0) || is_open(1) || is_open(2))
#define holds_it_back(i) (is_open(i) && item[i].before == checkpoint)
#define some_holds_it_back (holds_it_back(0) || holds_it_back(1) || holds_it_back(2))
#define is_of(i, its_origin) (is_open(i) && item[i].before == its_origin)
#define some_is_of(its_origin) (is_of(0, its_origin) || is_of(1, its_origin) || is_of(2, its_origin))
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

/* A write has failed: the next save makes its document due again, since its page was, and else since then (W4). */
#define SINCE_SAVED 1
#define SINCE_YOUNG 2       /* since what became due after the wait has looked */
#define SINCE_OLD 3         /* since what was due then; a job: since before all */
inline fail(its_state, its_since) {
  if
  :: failed < its_state -> failed = its_state
  :: else
  fi;
  if
  :: failed_since < its_since -> failed_since = its_since
  :: else
  fi
}

inline fail_of_page(its_state, is_old) {
#ifdef SINCE_NOW
  fail(its_state, SINCE_SAVED)
#else
  if
  :: is_old -> fail(its_state, SINCE_OLD)
  :: else -> fail(its_state, SINCE_YOUNG)
  fi
#endif
}

#define is_answered(i) (item[i].epoch == mine && (item[i].phase == ANSWERED || item[i].phase == REFUSED))

inline receive(i) {
  if
  :: item[i].phase == ANSWERED ->
       if
       :: !has(deleted, item[i].state) && version(i) > written -> written = version(i)  /* U2 */
       :: else
       fi;
       if
       :: free(i)
       :: timeouts < TIMEOUTS -> timeouts++; item[i].phase = LATE; item[i].before = 0  /* it had been sent twice */
       fi
  :: item[i].phase == REFUSED ->
       if
       :: item[i].before < FOR_DUE -> fail(item[i].state, SINCE_SAVED)
       :: else -> fail_of_page(item[i].state, item[i].before == FOR_JOB || !sent_young)
       fi;
       free(i)
  fi
}

inline drop(i) {
  if
  :: is_answered(i) -> free(i)
  :: else
  fi
}

/* Durably, before Elasticsearch is shown anything: by a commit, or because the log happens to be flushed as far as the snapshot saw.
   Then it is enough that the epoch in the snapshot was right. The latter makes less durable, and a deposed leader can do it, so it
   stands for both. */
inline settle(seen) {
  if
  :: durable < seen -> durable = seen
  :: else
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

/* Whether the page need not write the document (U2) */
#if defined(LEAVE_OUT_WRITTEN)
#define is_made_up_for (written != 0)
#elif defined(LEAVE_OUT_OLDER)
#define is_made_up_for (written + 1 >= page_as_of)
#elif defined(LEAVE_OUT_SENT)
#define is_sent_since(i) (is_open(i) && version(i) >= page_as_of)
#define is_made_up_for (written >= page_as_of || is_sent_since(0) || is_sent_since(1) || is_sent_since(2))
#else
#define is_made_up_for (written >= page_as_of)
#endif

inline clear(i) {
  due[i].kind = NONE; due[i].as_of = 0; due[i].needs = 0; due[i].is_related = false; due[i].is_young = false
}

/* Which page a replicator has in hand: that of the job, or one of the list */
#define OF_JOB 4
#define of_due(i) ((i) + 1)

inline read_page(its_origin, its_as_of, its_youth) {
  page = READ; page_of = its_origin; page_as_of = its_as_of; page_young = its_youth;
  counter++; page_number = counter; page_state = view;
  unsent[me] = true
}

inline read_due(i) {
  read_page(of_due(i), due[i].as_of, due[i].is_young);
#ifdef TAKE_OFF_EARLY
  clear(i)
#endif
}
#define may_read_due(i) (may_read_page && page == NONE && due[i].kind == PAGE && sent_of != of_due(i))

inline hand_over() {
  if
  :: page_of == OF_JOB -> filled = true
  :: else -> sent_of = page_of; sent_as_of = page_as_of; sent_young = page_young
  fi;
  page = NONE; page_of = NONE; page_as_of = 0; page_young = false; page_number = 0; page_state = 0; overtaken = false;
  unsent[me] = tail != NONE
}

#define has_place_for_page (page_of == OF_JOB || sent_of == NONE)
#define is_left_out (page_of != OF_JOB && is_made_up_for)
#define may_give_up (in_flight && refusals < REFUSALS)

/* The tail's step is over. A page in hand that it has overtaken with a deletion is not sent (W6). */
inline end_step() {
  if
  :: page != NONE && has(deleted, read) && page_number < tail_number -> overtaken = true
  :: else
  fi;
  tail = NONE; tail_number = 0; tail_before = 0; unsent[me] = page != NONE
}

inline note(i, its_kind, its_version, its_needs, its_relation, its_youth) {
  due[i].kind = its_kind; due[i].as_of = its_version; due[i].needs = its_needs; due[i].is_related = its_relation;
  due[i].is_young = its_youth
}

#define page_is_over (sent_of != NONE && !some_is_of(FOR_DUE))
#define job_is_over (job && filled && !some_is_of(FOR_JOB))
#define has_news (page_is_over || job_is_over || (read != checkpoint && !some_holds_it_back))

/* What a failed write has made due joins the pages behind a pause; not one that the same commit takes off. */
#ifdef JOIN_WHAT_GOES
#define may_join(i) (due[i].kind == PAGE)
#else
#define may_join(i) (due[i].kind == PAGE && !(takes_off && sent_of == of_due(i)))
#endif

inline join(i) {
  if
  :: may_join(i) ->
       due[i].as_of = saving;
       if
       :: due[i].needs < failed -> due[i].needs = failed
       :: else
       fi;
       due[i].is_young = due[i].is_young && failed_since != SINCE_OLD;
       joined = true
  :: else
  fi
}

inline make_due() {
  join(1); join(2);
  if
  :: joined
  :: !joined && due[1].kind == NONE ->
       note(1, PAGE, saving, failed, false, (failed_since == SINCE_SAVED && has_looked) || failed_since == SINCE_YOUNG)
  :: else ->
       assert(due[2].kind == NONE);  /* the model has room */
       note(2, PAGE, saving, failed, false, (failed_since == SINCE_SAVED && has_looked) || failed_since == SINCE_YOUNG)
  fi;
  joined = false; failed = 0; failed_since = 0
}

#ifdef TAKE_OFF_JOINED
#define is_as_read(i) (due[i].kind == PAGE)
#else
#define is_as_read(i) (due[i].kind == PAGE && due[i].as_of == sent_as_of)
#endif

#define goes_with(i) (sent_of == of_due(i) && is_as_read(i))
#define is_due_again(i, other) ((other) != (i) && due[other].kind == PAGE && due[other].needs >= due[i].needs)

inline take_off(i) {
  if
  :: sent_of == of_due(i) && goes ->
       assert(index >= due[i].needs || is_due_again(i, 1) || is_due_again(i, 2));  /* nothing_lost */
       clear(i)
  :: else
  fi
}

/* One commit */
inline save() {
  acknowledged = read;
  consider(0); consider(1); consider(2);
  checkpoint = acknowledged; acknowledged = 0; durable = commits;
  if
  :: job_is_over -> job = false
  :: else
  fi;
#ifdef JOIN_WHAT_GOES
  goes = takes_off && (goes_with(0) || goes_with(1) || goes_with(2));
#endif
  if
  :: failed != 0 -> make_due()
  :: else
  fi;
#ifndef JOIN_WHAT_GOES
  goes = takes_off && (goes_with(0) || goes_with(1) || goes_with(2));
#endif
  take_off(0); take_off(1); take_off(2);
  if
  :: takes_off -> sent_of = NONE; sent_as_of = 0; sent_young = false; takes_off = false
  :: else
  fi;
  goes = false; saving = 0
}

proctype Replicator(byte me) {
  byte counter;             /* the last number */
  byte read;                /* so many commits are read */
  byte tail, tail_number, tail_before;
  byte notes;               /* the tail's step makes its documents due: CHANGE, PAGE; else it writes them */
  byte page, page_of, page_as_of, page_number, page_state;
  bool page_young;
  bool overtaken;           /* since the page's snapshot the tail has sent a deletion */
  bool filled;              /* the job's page is handed over */
  byte sent_of, sent_as_of; /* the page of the list that is handed over */
  bool sent_young;
  byte written;             /* the greatest version of the document, not of a deletion, that Elasticsearch has acknowledged */
  byte failed, failed_since;  /* the newest state whose write has failed, until that is saved */
  byte saving;              /* a commit that makes something due, as of this version */
  bool takes_off, goes, joined;
  byte finding;             /* the change whose documents are being found, by its version */
  bool finds;
  byte acknowledged;
#ifdef FIND_IN_TWO
  byte found_needs;
  bool found_young;
#endif
end_stand_by:
  atomic { lead == 0 && (me == 1 || epoch != 0) ->  /* they are alike: 1 begins */
    lead = me; epoch++; mine = epoch; durable = commits; read = checkpoint; listening = listening | bit(mine) };
end_follow:
  do
  /* the tail */
#ifdef NUMBER_FIRST
  :: atomic { epoch == mine && tail == NONE && saving == 0 && read < commits -> tail = BEGUN; counter++; tail_number = counter }
  :: atomic { epoch == mine && tail == BEGUN -> tail = READ; tail_before = read; read = commits; unsent[me] = true }
#else
  :: atomic { epoch == mine && tail == NONE && saving == 0 && read < commits ->
       tail = READ; counter++; tail_number = counter; tail_before = read; read = commits; unsent[me] = true;
       if
       :: notes = NONE
#if NOTES
       :: due[0].kind == NONE -> notes = CHANGE
       :: due[0].kind == NONE -> notes = PAGE
#endif
       fi }
#endif
#if NOTES
  :: atomic { tail == READ && notes != NONE ->
       if
       :: epoch == mine ->
            durable = commits;
            note(0, notes, version_of(mine, tail_number), read, notes == CHANGE && are_all_related(tail_before, read),
                 has_looked);
            tail = NONE; tail_number = 0; tail_before = 0; notes = NONE; unsent[me] = page != NONE
       :: else -> goto stop
       fi }
#endif
  :: atomic { tail == READ && notes == NONE && may_send -> settle(read); send(tail_number, read, tail_before); end_step() }
  :: atomic { tail == READ && notes == NONE && may_give_up ->  /* given up */
       refusals++; fail(read, SINCE_SAVED); end_step() }
  /* a page */
#ifdef NUMBER_LAST
  :: atomic { may_read_page && job && !filled && page == NONE ->
       page = BEGUN; page_of = OF_JOB; page_state = view; unsent[me] = true }
  :: atomic { page == BEGUN -> page = READ; counter++; page_number = counter }
#else
  :: atomic { may_read_page && job && !filled && page == NONE -> read_page(OF_JOB, 0, false) }
#endif
  :: atomic { may_read_due(0) -> read_due(0) }
  :: atomic { may_read_due(1) -> read_due(1) }
  :: atomic { may_read_due(2) -> read_due(2) }
  :: atomic { page == READ && tail == NONE && saving == 0 && has_place_for_page && (is_left_out || is_dropped || may_send || may_give_up) ->
       if
       :: is_left_out
       :: is_dropped ->      /* the tail has what is newer */
#ifndef OVERTAKEN_IS_DONE
            if               /* and that has no outcome yet */
            :: page_of == OF_JOB
            :: else -> fail_of_page(page_state, !page_young)
            fi
#endif
       :: !is_dropped && may_send ->
#ifndef PAGE_UNSETTLED
            settle(page_state);
#endif
            send(page_number, page_state, (page_of == OF_JOB -> FOR_JOB : FOR_DUE))
       :: !is_dropped && may_give_up ->
            refusals++; fail_of_page(page_state, page_of == OF_JOB || !page_young)
       fi;
       hand_over() }
  /* the documents of a change */
#if NOTES
  :: atomic { mine != 0 && finding == 0 && due[0].kind == CHANGE ->
       finding = due[0].as_of; finds = !due[0].is_related || !has(deleted, view) }
#ifdef FIND_IN_TWO
  :: atomic { finding != 0 && found_needs == 0 ->
       if
       :: due[0].kind == CHANGE && due[0].as_of == finding ->
            found_needs = due[0].needs; found_young = due[0].is_young; clear(0)
       :: else -> finding = 0; finds = false
       fi }
  :: atomic { found_needs != 0 && due[0].kind == NONE && tail == NONE ->
       if
       :: finds -> note(0, PAGE, finding, found_needs, false, found_young)
       :: else -> has_moved = true
       fi;
       finding = 0; finds = false; found_needs = 0; found_young = false }
#else
  :: atomic { finding != 0 ->
       if
       :: due[0].kind == CHANGE && due[0].as_of == finding ->
            if
            :: finds -> due[0].kind = PAGE; due[0].is_related = false
            :: else -> clear(0); has_moved = true
            fi
       :: else               /* another leader has found them */
       fi;
       finding = 0; finds = false }
#endif
#endif
  /* a save: when something has failed its version is taken before the commit, and a page may be read in between */
  :: atomic { epoch == mine && tail == NONE && saving == 0 && failed == 0 && has_news -> takes_off = page_is_over; save() }
#ifdef PASS_UNWRITTEN
  :: atomic { epoch == mine && tail == NONE && saving == 0 && failed != 0 && read != checkpoint && !some_holds_it_back ->
       acknowledged = read; consider(0); consider(1); consider(2); checkpoint = acknowledged; acknowledged = 0 }
#endif
  :: atomic { epoch == mine && tail == NONE && saving == 0 && failed != 0 ->
       saving = version_of(mine, counter + 1);
       if
       :: page_is_over -> takes_off = true
       :: true               /* the page has other documents, without an outcome */
       fi }
  :: atomic { saving != 0 ->
       if
       :: epoch == mine -> save()
       :: else -> goto stop
       fi }
  /* the rest */
  :: atomic { epoch != mine && tail <= BEGUN && page == NONE -> goto stop }  /* its transactions come to nothing */
  :: atomic { saving == 0 && is_answered(0) -> receive(0) }
  :: atomic { saving == 0 && is_answered(1) -> receive(1) }
  :: atomic { saving == 0 && is_answered(2) -> receive(2) }
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
    mine = 0; counter = 0; read = 0; tail = NONE; tail_number = 0; tail_before = 0; notes = NONE;
    page = NONE; page_of = NONE; page_as_of = 0; page_number = 0; page_state = 0; page_young = false; overtaken = false;
    filled = false; sent_of = NONE; sent_as_of = 0; sent_young = false; written = 0; failed = 0; failed_since = 0; saving = 0;
    takes_off = false; finding = 0; finds = false; unsent[me] = false;
#ifdef FIND_IN_TWO
    found_needs = 0; found_young = false;
#endif
    goto end_stand_by
  }
}

/* When nothing can happen any more */
proctype Quiet() {
  atomic {
    timeout ->
      assert(index == view);                                              /* index_is_view */
      assert(checkpoint == commits && !job && due[0].kind + due[1].kind + due[2].kind == NONE)  /* nothing_pending */
  }
}

init {
  atomic {
    commits = 1; durable = 1; checkpoint = 1;  /* the row was there before the index */
#if JOB
    job = true;
#else
    index = 1;
#endif
    run Writers(); run Failures(); run Elasticsearch(); run Replicator(1); run Replicator(2); run Quiet();
#if WAITS
    run Waiter()
#endif
  }
}
