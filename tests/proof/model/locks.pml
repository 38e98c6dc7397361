/* Operations under tree locks: what leases, journal and fencing tokens guarantee, whoever dies or sleeps for how long. README.md
   says what is modelled and what is left out; scripts/model runs it.

   alone         no two operations that exclude each other have committed and are not done
   serial        each operation begins, and everything ends, with the data that the commits give one after the other
   nothing_left  when all is quiet, nothing is locked and no operation is open

   A lease may run out at any moment: that is how long a process may sleep between two steps. Each step is atomic; whatever
   can happen between two steps is tried. Variants, each without one of the safeguards: NO_FENCE, NO_CONDITION, NO_COMPARE,
   EVICTION, NO_RECOVERY, LOCKS_FIRST, ROLL_BACK, SOURCE_ONLY. */

#ifndef OPERATIONS
#define OPERATIONS 2        /* 2 or 3 */
#endif
#ifndef DEATHS
#define DEATHS 1            /* of owners and helpers */
#endif
#ifndef HELPERS
#define HELPERS 0           /* 0 or 1: somebody who resolves one operation, and may die over it */
#endif

#define bit(n) (1 << (n))
#define has(set, n) (((set) & bit(n)) != 0)

/* --- What is changed: two documents in the directories /a and /b, the first of which may get another name. Operation 0 moves
   all of /a to /b, operation 1 all of /b to /a, operation 2 renames the first document if it is in /a. --- */

byte place[2], renamed;         /* 1: /a, 2: /b; whether the first one has its other name */
byte revision[2];               /* of each document: what a conditional write asks for (_seq_no) */
byte fence[2];                  /* the token of the last write */

byte serial_place[2], serial_renamed;   /* what the commits give one after the other */
#ifdef ROLL_BACK
byte before[2];                 /* what the last commit found */
#endif

#define source(o) ((o) == 0 -> 1 : 2)
#define target(o) ((o) == 0 -> 2 : 1)
#define to_do(o, d) ((o) == 2 -> ((d) == 0 && place[0] == 1 && !renamed) : place[d] == source(o))
#define anything_to_do(o) (to_do(o, 0) || to_do(o, 1))
#define target_is_free(o) ((o) == 2 || (place[0] != target(o) && place[1] != target(o)))

/* --- The locks: "/", "/a", "/b", "/a/f". --- */

#define NAMES 4
#define SHARED 1
#define EXCLUSIVE 2
byte holder[NAMES];             /* of the exclusive lock: an operation + 1, 0: nobody */
byte sharers[NAMES];            /* set of operations */

#ifdef SOURCE_ONLY
#define moves_to(o, n) false
#else
#define moves_to(o, n) ((n) == target(o))
#endif
#define mode(o, n) \
  ((n) == 0 -> SHARED : ((o) == 2 -> ((n) == 1 -> SHARED : ((n) == 3 -> EXCLUSIVE : 0)) \
                                   : (((n) == source(o) || moves_to(o, n)) && (n) != 3 -> EXCLUSIVE : 0)))
#define grantable(o, n) \
  ((holder[n] == 0 || holder[n] == (o) + 1) && (mode(o, n) == SHARED || (sharers[n] & ~bit(o)) == 0))
#define locked_by(o, n) (holder[n] == (o) + 1 || has(sharers[n], o))
#define has_locks(o) (locked_by(o, 0) || locked_by(o, 1) || locked_by(o, 2) || locked_by(o, 3))

inline take(o, n) {
  if
  :: mode(o, n) == SHARED -> sharers[n] = sharers[n] | bit(o)
  :: mode(o, n) == EXCLUSIVE -> holder[n] = o + 1
  :: else
  fi
}

inline give_back(o, n) {
  sharers[n] = sharers[n] & ~bit(o);
  if
  :: holder[n] == o + 1 -> holder[n] = 0
  :: else
  fi
}

/* --- The journal. A write of an entry succeeds in the version in which the entry was read. --- */

mtype = { none, pending, running, done, aborted };
mtype state[3] = none;
byte version[3];
byte last_token;                /* tokens grow in the order of commits and adoptions */

#define open(o) (state[o] == pending || state[o] == running)
#define void(o) ((state[o] == done || state[o] == aborted) && has_locks(o))

#ifdef NO_COMPARE
#define unchanged(o) true
#else
#define unchanged(o) (version[o] == seen)
#endif

inline note(o, new_state) {     /* sets "went_well" */
  if
  :: unchanged(o) -> state[o] = new_state; version[o]++; seen = version[o]; went_well = true
  :: else -> went_well = false
  fi
}

/* --- What must hold --- */

byte deaths, ended;             /* there have been; processes that will do nothing more */

inline alone_and_serial(o) {
  byte together = (state[0] == running && o != 0) + (state[1] == running && o != 1) + (state[2] == running && o != 2);
  assert(together == 0);
  together = 0;
  serial()
}

inline serial() {
  assert(place[0] == serial_place[0] && place[1] == serial_place[1] && renamed == serial_renamed)
}

inline nothing_left() {
  byte left = (holder[0] | holder[1] | holder[2] | holder[3] | sharers[0] | sharers[1] | sharers[2] | sharers[3]);
  assert(left == 0);
}

inline happen(o) {              /* what the commit means for the serial state */
#ifdef ROLL_BACK
  before[0] = serial_place[0]; before[1] = serial_place[1];
#endif
  if
  :: o == 2 -> serial_renamed = 1
  :: else ->
       if :: serial_place[0] == source(o) -> serial_place[0] = target(o) :: else fi;
       if :: serial_place[1] == source(o) -> serial_place[1] = target(o) :: else fi
  fi
}

/* --- What both owners and those who resolve do. "mortal" is whether the process may die before a step. --- */

inline may_die(mortal) {
  if
  :: mortal && deaths < DEATHS -> deaths++; goto dead
  :: true
  fi
}

inline release(o, mortal) {     /* by name, the last first; the shared ones above at once */
  atomic { may_die(mortal); give_back(o, 3); give_back(o, 2) };
  atomic { may_die(mortal); give_back(o, 1); give_back(o, 0) }
}

#ifdef NO_FENCE
#define fenced_off false
#else
#define fenced_off (read_fence > token)
#endif

#ifdef NO_CONDITION
#define as_read true
#else
#define as_read (revision[d] == read_revision)
#endif

/* Reads a document that is still to be changed and writes it as it was read; between the two anything may happen. Then a
   heartbeat says whether one has been deposed. Sets "went_well". */
inline apply(o, mortal) {
  went_well = true;
  do
  :: atomic {
       may_die(mortal);
       if
       :: to_do(o, 0) -> d = 0
       :: to_do(o, 1) -> d = 1
       :: !anything_to_do(o) -> d = 0; break
       fi;
       read_revision = revision[d]; read_fence = fence[d];
       if
       :: fenced_off -> d = 0; read_revision = 0; read_fence = 0; went_well = false; break
       :: else
       fi
     };
     atomic {
       may_die(mortal);
       if
       :: as_read ->
            if
            :: o == 2 -> renamed = 1
            :: else -> place[d] = target(o)
            fi;
            fence[d] = token; revision[d]++
       :: else
       fi;
       d = 0; read_revision = 0; read_fence = 0
     };
     atomic {
       may_die(mortal);
       if
       :: unchanged(o)
       :: else -> went_well = false; break
       fi
     }
  od
}

/* --- An operation's first owner --- */

proctype Owner(byte o) {
  byte seen, token;
  byte n, d, read_revision, read_fence;
  bool went_well;
#ifndef LOCKS_FIRST
  atomic { may_die(true); state[o] = pending; version[o] = 1; seen = 1 };   /* before the first lock */
#endif
lock:
  n = 0;
  do                            /* one after the other, as the items of a bulk request are */
  :: atomic { n < NAMES && (mode(o, n) == 0 || grantable(o, n)) -> may_die(true); take(o, n); n++ }
  :: atomic { n < NAMES && mode(o, n) != 0 && !grantable(o, n) -> goto refused }
  :: atomic { n == NAMES -> n = 0; goto locked }
  od;
refused:                        /* gives back what it has, and tries again if it is still its own */
  n = 0;
  release(o, true);
  if
  :: atomic { state[o] == none || unchanged(o) -> goto lock }
  :: atomic { else -> goto deposed }
  fi;
locked:
#ifdef LOCKS_FIRST
  atomic { may_die(true); state[o] = pending; version[o] = 1; seen = 1 };
#endif
  atomic {
    may_die(true);
    if
    :: anything_to_do(o) && target_is_free(o) -> goto commit
    :: else
    fi
  };
  atomic { may_die(true); note(o, aborted) };
  release(o, true);
  goto dead;
commit:
  atomic {
    may_die(true);
    note(o, running);
    if
    :: went_well -> last_token++; token = last_token; alone_and_serial(o); happen(o)
    :: else -> goto deposed
    fi
  };
  apply(o, true);
  if
  :: atomic { !went_well -> goto deposed }
  :: atomic { went_well -> may_die(true); note(o, done) }
  fi;
  if
  :: atomic { !went_well -> goto deposed }
  :: atomic { went_well }
  fi;
  release(o, true);
  goto dead;
deposed:                        /* its locks are an adopter's, unless it was aborted */
  if
  :: atomic { state[o] == aborted }
  :: atomic { else -> goto dead }
  fi;
  release(o, true);
dead:
  atomic { seen = 0; token = 0; n = 0; d = 0; read_revision = 0; read_fence = 0; went_well = false; ended++ }
}

/* --- Whoever meets the locks of an operation whose lease has run out --- */

#ifdef ROLL_BACK
#define FINISHED aborted
inline undo(o, mortal) {        /* puts back what has been changed, and leaves alone what has not */
  do
  :: atomic {
       may_die(mortal);
       if
       :: o != 2 && place[0] == target(o) -> place[0] = source(o); fence[0] = token; revision[0]++
       :: o != 2 && place[1] == target(o) -> place[1] = source(o); fence[1] = token; revision[1]++
       :: else -> break
       fi
     }
  od;
  went_well = true
}
#else
#define FINISHED done
#define undo(o, mortal) apply(o, mortal)
#endif

inline resolve(o, mortal) {
#ifdef EVICTION
  release(o, mortal);           /* the lease is over, so the locks are free */
#else
  atomic {                      /* reads the entry, and writes it in that version */
    may_die(mortal);
    seen = version[o];
    if
    :: state[o] == pending -> note(o, aborted); went_well = false
    :: state[o] == running -> note(o, running); last_token++; token = last_token
    :: else -> went_well = false
    fi
  };
  if
  :: atomic { !went_well }
  :: atomic { went_well };
     undo(o, mortal);
     if
     :: atomic { went_well ->
          may_die(mortal);
          note(o, FINISHED);
#ifdef ROLL_BACK
          if :: went_well -> serial_place[0] = before[0]; serial_place[1] = before[1] :: else fi
#endif
        }
     :: atomic { !went_well }
     fi
  fi;
  if
  :: atomic { state[o] == done || state[o] == aborted || state[o] == none };
     release(o, mortal)
  :: atomic { else }            /* somebody else has adopted it */
  fi;
#endif
  atomic { seen = 0; token = 0; went_well = false }
}

#ifdef LOCKS_FIRST
#define in_the_way(o) (open(o) || has_locks(o))   /* locks without an entry are void as well */
#else
#define in_the_way(o) (open(o) || void(o))
#endif
#define any_in_the_way (in_the_way(0) || in_the_way(1) || in_the_way(2))

proctype Helper() {             /* resolves one operation, and may die over it */
  byte seen, token;
  byte d, read_revision, read_fence;
  bool went_well;
  if
  :: atomic { in_the_way(0) }; resolve(0, true)
  :: atomic { in_the_way(1) }; resolve(1, true)
  :: atomic { in_the_way(2) }; resolve(2, true)
  :: atomic { ended == OPERATIONS }
  fi;
dead:
  atomic { seen = 0; token = 0; d = 0; read_revision = 0; read_fence = 0; went_well = false; ended++ }
}

proctype Survivor() {           /* goes on until nothing is left */
  byte seen, token;
  byte d, read_revision, read_fence;
  bool went_well;
  do
#ifndef NO_RECOVERY
  :: atomic { in_the_way(0) }; resolve(0, false)
  :: atomic { in_the_way(1) }; resolve(1, false)
  :: atomic { in_the_way(2) }; resolve(2, false)
  :: atomic { ended == OPERATIONS + HELPERS && !any_in_the_way -> break }
#else
  :: atomic { ended == OPERATIONS + HELPERS -> break }
#endif
  od;
  atomic { nothing_left(); serial() };
dead:
  skip
}

init {
  atomic {
    place[0] = 1; place[1] = 1; serial_place[0] = 1; serial_place[1] = 1;
    run Owner(0);
    run Owner(1);
#if OPERATIONS == 3
    run Owner(2);
#endif
#if HELPERS == 1
    run Helper();
#endif
    run Survivor()
  }
}
