"""What a power cut leaves of a SQLite file whose processes are all dead: what was synced (sync_ledger.cc), and by chance more."""
import os
import struct

HEADER = 32
FRAME_HEADER = 24


def synced_frames(ledger, salts):
    """How many frames of this generation of the -wal are on the disk for sure."""
    if not os.path.exists(ledger):
        return 0
    with open(ledger) as lines:
        return max((int(line.split()[1]) for line in lines if line.split()[0] == salts), default=0)


def cut_wal(file, ledger, choose):
    """Returns how many frames are gone; none when there is no -wal."""
    wal = file + "-wal"
    if not os.path.exists(wal) or os.path.getsize(wal) <= HEADER:
        return 0
    with open(wal, "r+b") as log:
        header = log.read(HEADER)
        page = FRAME_HEADER + struct.unpack(">I", header[8:12])[0]
        frames = 0
        while True:
            log.seek(HEADER + frames * page)
            if log.read(FRAME_HEADER)[8:16] != header[16:24]:
                break
            frames += 1
        synced = synced_frames(ledger, header[16:24].hex())
        assert synced <= frames, f"{synced} frames were synced of {frames}"
        left = choose.choice([synced, synced, choose.randint(synced, frames)])
        log.seek(HEADER + left * page)
        if choose.random() < 0.5:
            log.truncate()
        else:
            log.write(bytes((frames - left) * page))  # the length may survive what was written
    return frames - left


def give_back_journal(file):
    """Returns whether there was one whose deletion was not on the disk."""
    kept = file + "-journal.kept"
    if not os.path.exists(kept):
        return False
    os.replace(kept, file + "-journal")
    return True


def cut(file, ledger, choose):
    """Returns what it has done, in words."""
    if os.path.exists(file + "-shm"):
        os.remove(file + "-shm")
    gone = cut_wal(file, ledger, choose)
    if os.path.exists(file + "-journal"):  # a transaction in the making: it is undone in any case
        return "a journal was there"
    if choose.random() < 0.7 and give_back_journal(file):
        return "a journal came back"
    return f"{gone} frames lost" if gone else "nothing lost"
