// `lockstep init` on the shapes of two schemas that many people know: `check` has nothing to say of what it
// writes, and random statements on every table leave no document different.
#include "tests/integration/init_fixture.h"

namespace lockstep::support {
namespace {

constexpr int kRounds = 8;

class NorthwindInit : public InitFixture {
 protected:
  NorthwindInit()
      : InitFixture(
            "northwind_shape.sql",
            {
                "update northwind.categories set category_name = 'changed {m}' where category_id = {n}",
                "update northwind.region set region_description = 'changed {m}' where region_id = {n}",
                "update northwind.territories set region_id = {m} % 4 + 1 where territory_id = 't{n}'",
                "update northwind.employees set reports_to = nullif({m} % 9, 0) where employee_id = {n}",
                "update northwind.employees set last_name = 'changed {m}' where employee_id = {n}",
                "delete from northwind.employee_territories where employee_id = {n} and territory_id = "
                "'t{m}'",
                "insert into northwind.employee_territories values ({n}, 't{m}')",
                "update northwind.customers set company_name = 'changed {m}' where customer_id = 'C{n}'",
                "update northwind.customer_demographics set customer_desc = '{m}' where customer_type_id = "
                "'D{n}'",
                "update northwind.customer_customer_demo set customer_type_id = 'D{m}' where customer_id = "
                "'C{n}'",
                "insert into northwind.customer_customer_demo values ('C{n}', 'D{m}')",
                "update northwind.suppliers set homepage = 'https://{m}' where supplier_id = {n}",
                "update northwind.products set supplier_id = {m}, category_id = null where product_id = {n}",
                "update northwind.shippers set phone = '{m}' where shipper_id = {n}",
                "update northwind.orders set customer_id = 'C{m}', employee_id = {n} where order_id = {n}",
                "update northwind.orders set ship_via = {m} where order_id = {n}",
                "delete from northwind.orders where order_id = {n} and {m} = 1",
                "insert into northwind.orders values ({n} + 60, 'C{m}', {m}, '1998-01-01', null, 1, 1)",
                "update northwind.order_details set quantity = {m} where product_id = {n}",
                "update northwind.order_details set product_id = {m} where order_id = {n} and product_id = "
                "{n}",
                "insert into northwind.order_details values ({n}, {m}, 1, 1, 0)",
                "delete from northwind.order_details where order_id = {n} and product_id = {m}",
            }) {}
};

TEST_F(NorthwindInit, FromTheTableOfOrdersNoChangeIsMissed) {
  draft("search.orders", {"--table", "northwind.orders", "--with",
                          "customers,customer_demographics,employees,territories,region", "--with",
                          "shippers,order_details,products,suppliers,categories"});
  database_.run(file(".sql"));
  expect_that_no_change_is_missed(kRounds);
}

class MusicbrainzInit : public InitFixture {
 protected:
  MusicbrainzInit()
      : InitFixture(
            "musicbrainz_shape.sql",
            {
                "update mb.area_type set name = 'changed {m}' where id = {n}",
                "update mb.area set name = 'changed {m}', type = {m} where id = {n}",
                "update mb.artist_type set name = 'changed {m}' where id = {n}",
                "update mb.artist set area = {m}, type = null where id = {n}",
                "update mb.artist set name = 'changed {m}' where id = {n}",
                "update mb.artist_alias set artist = {m} where id = {n}",
                "delete from mb.artist_alias where id = {n}",
                "insert into mb.artist_alias values ({n}, {m}, 'new')",
                "update mb.artist_credit set name = 'changed {m}' where id = {n}",
                "update mb.artist_credit_name set artist = {m} where artist_credit = {n}",
                "update mb.artist_credit_name set position = {m} where artist_credit = {n} and position = 1",
                "update mb.release_group set name = 'changed {m}' where id = {n}",
                "update mb.language set name = 'changed {m}' where id = {n}",
                "update mb.release set artist_credit = {m}, release_group = {n} where id = {n}",
                "update mb.release set gid = md5('release {n} {m}')::uuid where id = {n}",
                "delete from mb.release where id = {n} + 12 and {m} = 1",
                "insert into mb.release values ({n} + 30, md5('new {n}')::uuid, 'new', {m}, {m}, null)",
                "update mb.label set name = 'changed {m}' where id = {n}",
                "update mb.release_label set release = {m}, label = {n} where id = {n}",
                "update mb.medium_format set name = 'changed {m}' where id = {n}",
                "update mb.medium set release = {m}, format = {n} where id = {n}",
                "delete from mb.medium where id = {n} + 12 and {m} = 2",
                "update mb.recording set gid = md5('recording {n} {m}')::uuid where id = {n}",
                "update mb.track set medium = {m}, recording = {m} where id = {n}",
                "update mb.track set artist_credit = {m} where medium = {n}",
                "update mb.tag set name = 'changed {m}' where id = {n}",
                "insert into mb.release_tag values ({n}, {m} % 6 + 1)",
                "delete from mb.release_tag where release = {n} and tag = {m} % 6 + 1",
            }) {}
};

TEST_F(MusicbrainzInit, FromAViewOfReleasesNoChangeIsMissed) {
  draft("search.releases", {"--view", "search.releases"});
  expect_that_no_change_is_missed(kRounds);
}

TEST_F(MusicbrainzInit, FromTheTableOfArtistsNoChangeIsMissed) {
  draft("search.artist", {"--table", "mb.artist", "--with",
                          "artist_type,gender,area,area_type,artist_alias,artist_credit_name", "--with",
                          "artist_credit,release_group"});
  database_.run(file(".sql"));
  expect_that_no_change_is_missed(kRounds);
}

constexpr int kTemporalKeys = 180000;  // server_version_num

// Its fixture needs the server's version before it makes the tables.
class HotelInit : public InitFixture {
 protected:
  static bool has_temporal_keys() {
    return PostgresDatabase().number("select current_setting('server_version_num')::int") >= kTemporalKeys;
  }

  HotelInit()
      : InitFixture(has_temporal_keys() ? "hotel_shape.sql" : "league_shape.sql",
                    {
                        "update hotel.rooms set name = 'changed {m}' where id = {n}",
                        "update hotel.rooms set valid = daterange(lower(valid), date '2027-01-01' + {m}) "
                        "where id = {n} "
                        "and lower(valid) = '2026-07-01'",
                        "insert into hotel.rooms values ({n}, daterange('2027-02-01', '2027-03-01'), 'new')",
                        "update hotel.bookings set during = daterange(date '2026-06-20' + {m}, date "
                        "'2026-07-10' + {m}) where id = "
                        "{n}",
                        "update hotel.bookings set room_id = {m} where id = {n}",
                        "delete from hotel.bookings where id = {n} + 12 and {m} = 1",
                    }) {}
};

TEST_F(HotelInit, ATemporalKeyFindsTheRoomsOfTheTimeAndMissesNoChange) {
  if (!has_temporal_keys()) {
    // There is nothing to find before PostgreSQL 18, which CI runs as well.
    EXPECT_ANY_THROW(
        database_.execute("create table k (during daterange, primary key (during without overlaps))"));
    return;
  }
  draft("search.bookings", {"--table", "hotel.bookings", "--with", "rooms"});
  database_.run(file(".sql"));
  EXPECT_EQ(
      database_.number("select count(*) from search.bookings where json_array_length(rooms) = 0 or rooms is "
                       "null"),
      0);
  EXPECT_GT(database_.number("select count(*) from search.bookings where json_array_length(rooms) = 2"), 0);
  expect_that_no_change_is_missed(kRounds);
}

}  // namespace
}  // namespace lockstep::support
