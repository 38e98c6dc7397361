#include "replicator/config/credentials.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/unit/config/config_folder.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class CredentialsTest : public ConfigFolder {
 protected:
  // mkdtemp() makes a folder that nobody else may enter.
  CredentialsTest() { fs::permissions(folder_, fs::perms::others_exec, fs::perm_options::add); }

  fs::path secret(const std::string& name, fs::perms others = fs::perms::none) const {
    const fs::path file = write(name, "old\n");
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | others);
    return file;
  }

  Config with_files() const {
    secret("database");
    secret("key");
    write("ca.pem", "x");
    return load(
        "[source]\nurl = \"postgresql://lockstep@/shop\"\npassword_file = \"database\"\n"
        "[elasticsearch]\napi_key_file = \"key\"\nca_file = \"ca.pem\"\n" +
        kIndex);
  }
};

TEST_F(CredentialsTest, FilesAreThoseThatTheConfigurationNames) {
  EXPECT_THAT(credential_files(with_files()),
              UnorderedElementsAre(folder_ / "database", folder_ / "key", folder_ / "ca.pem"));
  EXPECT_THAT(credential_files(load(kSource + "password = \"inline\"\n" + kIndex)), IsEmpty());
}

TEST_F(CredentialsTest, RotatedSecretsAreReadAnewAndNothingElseIs) {
  const Config before = with_files();
  write("key", "new\n");
  write("lockstep.toml", "nonsense");
  EXPECT_TRUE(has_rotated(before));
  const Config after = with_present_credentials(before);
  EXPECT_EQ(after.elasticsearch.api_key.value(), "new");
  EXPECT_EQ(after.elasticsearch.api_key.file(), folder_ / "key");
  EXPECT_EQ(after.source.password.value(), "old");
  EXPECT_EQ(after.source.url, before.source.url);
  EXPECT_FALSE(has_rotated(after));
}

TEST_F(CredentialsTest, AFileThatIsAwayOrEmptyIsAnErrorThatNamesIt) {
  const Config config = with_files();
  const auto error = [&]() -> std::string {
    try {
      with_present_credentials(config);
      return "";
    } catch (const UsageError& found) {
      return found.what();
    }
  };
  EXPECT_EQ(error(), "");
  write("key", "\n");
  EXPECT_THAT(error(), testing::HasSubstr((folder_ / "key").string() + " holds an empty secret"));
  fs::remove(folder_ / "key");
  EXPECT_THAT(error(), testing::HasSubstr((folder_ / "key").string() + " cannot be read"));
}

// Reloads ended for good, since the reader waited for a writer.
TEST_F(CredentialsTest, APipeInPlaceOfASecretIsAnErrorAtOnce) {
  const Config config = with_files();
  fs::remove(folder_ / "key");
  ASSERT_EQ(::mkfifo((folder_ / "key").c_str(), 0600), 0);
  EXPECT_TRUE(has_rotated(config)) << "it is no longer what was read";
  try {
    with_present_credentials(config);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr((folder_ / "key").string() + " is no regular file"));
  }
}

TEST_F(CredentialsTest, ASecretIsAtMostOneMebibyte) {
  const Config config = with_files();
  write("key", std::string((1U << 20) + 1, 'x'));
  try {
    with_present_credentials(config);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr((folder_ / "key").string() + " is larger than 1 MiB"));
  }
}

TEST_F(CredentialsTest, ASecretThatOthersCanReadIsFound) {
  const Config config = with_files();
  EXPECT_THAT(secrets_open_to_all(config), IsEmpty()) << "a certificate is no secret";
  secret("key", fs::perms::others_read);
  EXPECT_THAT(secrets_open_to_all(config), ElementsAre(folder_ / "key"));
  fs::permissions(folder_, fs::perms::others_exec, fs::perm_options::remove);
  EXPECT_THAT(secrets_open_to_all(config), IsEmpty()) << "nobody else gets into the folder";
}

TEST_F(CredentialsTest, TheConfigurationCountsWhenASecretStandsInIt) {
  const fs::path file = secret("lockstep.toml", fs::perms::others_read);
  EXPECT_THAT(secrets_open_to_all(load(kSource + kIndex)), IsEmpty());
  EXPECT_THAT(secrets_open_to_all(load(kSource + "password = \"inline\"\n" + kIndex)), ElementsAre(file));
  EXPECT_THAT(secrets_open_to_all(load("[source]\nurl = \"postgresql://me:secret@db/shop\"\n" + kIndex)),
              ElementsAre(file));
}

}  // namespace
}  // namespace lockstep
