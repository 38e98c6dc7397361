#include "replicator/draft/sensitive_name.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(SensitiveNameTest, WordsOfSecretsAndPersonalDataAreFoundInAnySpelling) {
  for (const char* name :
       {"password", "password_hash", "passwordHash", "api_key", "userAPIKey", "IBAN", "card_number",
        "reset_token_2", "pin", "ssn", "national_id", "otp_secret", "social_security_no"})
    EXPECT_TRUE(looks_sensitive(name)) << name;
}

TEST(SensitiveNameTest, OtherNamesAreNotTakenForThem) {
  for (const char* name : {"name", "pinned", "cardinality", "hashtag", "tokenizer", "salted", "key",
                           "postcard", "shipping", "secretary", "account_id", "_"})
    EXPECT_FALSE(looks_sensitive(name)) << name;
}

}  // namespace
}  // namespace lockstep
