// Loaded into every process of a run (LD_PRELOAD): writes down what a power cut cannot take back.
//
// Of a -wal: at each sync a line "SALTS FRAMES" in the file that SYNC_LEDGER names, for the frames that it
// had when the sync began. Of the rollback journal that SYNC_JOURNAL names: a second name, which ends in
// ".kept", from its deletion until the folder is synced; until then a power cut may bring the journal back.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t kHeader = 32;
constexpr std::size_t kFrameHeader = 24;

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets one
  return value == nullptr ? "" : value;
}

std::string path_of(int descriptor) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), path.data(), path.size());
  return {path.data(), length < 0 ? 0 : static_cast<std::size_t>(length)};
}

std::uint32_t big_endian(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
         bytes[3];
}

// The frames with the salts of the header, which follow one another from the beginning. Empty: it has no
// header.
std::string line_for(int wal) {
  std::array<unsigned char, kHeader> header{};
  std::array<unsigned char, kFrameHeader> frame{};
  if (pread(wal, header.data(), kHeader, 0) != kHeader) return {};
  const auto length = static_cast<off_t>(kFrameHeader + big_endian(&header[8]));
  long frames = 0;
  while (pread(wal, frame.data(), kFrameHeader, static_cast<off_t>(kHeader) + frames * length) ==
             kFrameHeader &&
         std::memcmp(&frame[8], &header[16], 8) == 0)
    ++frames;
  std::array<char, 64> line{};
  std::snprintf(line.data(), line.size(), "%08x%08x %ld\n", big_endian(&header[16]), big_endian(&header[20]),
                frames);
  return line.data();
}

void note(const std::string& line) {
  const std::string ledger = value_of("SYNC_LEDGER");
  if (ledger.empty() || line.empty()) return;
  const int to = open(ledger.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (to < 0 || write(to, line.data(), line.size()) < 0) std::abort();
  close(to);
}

bool is_folder_of_journal(int descriptor, const std::string& path) {
  struct stat found {};
  const std::string journal = value_of("SYNC_JOURNAL");
  return !journal.empty() && fstat(descriptor, &found) == 0 && S_ISDIR(found.st_mode) &&
         journal.starts_with(path);
}

int sync_by(const char* name, int descriptor) {
  const std::string path = path_of(descriptor);
  const std::string line = path.ends_with("-wal") ? line_for(descriptor) : "";
  const int code = real<int(int)>(name)(descriptor);
  if (code != 0) return code;
  note(line);
  if (is_folder_of_journal(descriptor, path))
    real<int(const char*)>("unlink")((value_of("SYNC_JOURNAL") + ".kept").c_str());
  return code;
}

}  // namespace

extern "C" {

int fdatasync(int descriptor) {
  return sync_by("fdatasync", descriptor);
}

int fsync(int descriptor) {
  return sync_by("fsync", descriptor);
}

int unlink(const char* path) noexcept {
  auto* const unlink_now = real<int(const char*)>("unlink");
  if (path == value_of("SYNC_JOURNAL")) {
    const std::string kept = std::string(path) + ".kept";
    unlink_now(kept.c_str());
    if (link(path, kept.c_str()) != 0) std::abort();
  }
  return unlink_now(path);
}

}  // extern "C"
