#include "tests/support/program.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "tests/support/eventually.h"

namespace lockstep::support {
namespace {

int memory_file(const char* name) {
  const int descriptor = memfd_create(name, MFD_CLOEXEC);
  if (descriptor < 0) throw std::runtime_error(std::string("memfd_create: ") + std::strerror(errno));
  return descriptor;
}

std::string content(int descriptor) {
  struct stat status {};
  fstat(descriptor, &status);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = pread(descriptor, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

std::vector<std::string> merged_environment(const Program::Environment& changes) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [name, value] : changes) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Program::Program(const std::string& file, const std::vector<std::string>& arguments,
                 const Environment& environment)
    : out_(memory_file("stdout")), err_(memory_file("stderr")) {
  std::vector<std::string> argument_texts{file};
  argument_texts.insert(argument_texts.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment_texts = merged_environment(environment);
  const std::vector<char*> argv = pointers(argument_texts);
  const std::vector<char*> envp = pointers(environment_texts);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (pid_ == 0) {
    // Only what is safe after fork in a process with threads.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(126);
    dup2(out_, STDOUT_FILENO);
    dup2(err_, STDERR_FILENO);
    execvpe(argv[0], argv.data(), envp.data());
    _exit(127);
  }
}

Program::~Program() {
  if (running()) kill();
  close(out_);
  close(err_);
}

std::optional<int> Program::exit_code_now() {
  if (exit_code_) return exit_code_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == pid_) {
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return exit_code_;
}

void Program::signal(int number) {
  if (running()) ::kill(pid_, number);
}

void Program::kill() {
  signal(SIGKILL);
  wait(std::chrono::minutes(1));
}

std::optional<int> Program::wait(std::chrono::milliseconds deadline) {
  wait_until([&] { return exit_code_now().has_value(); }, deadline, std::chrono::milliseconds(2));
  return exit_code_;
}

std::string Program::out() const {
  return content(out_);
}
std::string Program::err() const {
  return content(err_);
}

Completed run_program(const std::string& file, const std::vector<std::string>& arguments,
                      const Program::Environment& environment, std::chrono::milliseconds deadline) {
  Program program(file, arguments, environment);
  const std::optional<int> exit_code = program.wait(deadline);
  if (!exit_code) {
    throw std::runtime_error(file + " has not ended in time; it wrote\n" + program.out() + program.err());
  }
  if (*exit_code == 127 && program.err().empty()) throw std::runtime_error(file + " is not installed");
  return {*exit_code, program.out(), program.err()};
}

std::string lockstep_program() {
  const char* given = std::getenv("LOCKSTEP_TEST_PROGRAM");  // NOLINT(concurrency-mt-unsafe)
  const std::string program = given != nullptr ? given : LOCKSTEP_PROGRAM;
  if (!std::filesystem::exists(program)) {
    throw std::runtime_error(program + " has not been built; build the target lockstep");
  }
  return program;
}

}  // namespace lockstep::support
