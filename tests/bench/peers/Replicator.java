// What a team assembles that has Debezium without Kafka: the engine says which rows have changed, a query reads their documents again
// with the join, and bulk requests write them. Documents have no versions.
// Usage: java Replicator PROPERTIES JDBC_URL BULK_URL
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.io.FileInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.*;
import java.util.concurrent.CompletableFuture;

public class Replicator {
  static final int BULK_DOCUMENTS = 2000;
  static final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  static Connection database;
  static URI bulk;

  static List<Long> numbers(String sql, Collection<Long> keys) throws Exception {
    var found = new ArrayList<Long>();
    try (var statement = database.prepareStatement(sql)) {
      statement.setArray(1, database.createArrayOf("bigint", keys.toArray()));
      for (var rows = statement.executeQuery(); rows.next(); ) found.add(rows.getLong(1));
    }
    return found;
  }

  static CompletableFuture<Void> write(List<Long> ids) throws Exception {
    var gone = new HashSet<>(ids);
    var body = new StringBuilder();
    try (var statement = database.prepareStatement("select id, json from blog.rendered where id = any(?)")) {
      statement.setArray(1, database.createArrayOf("bigint", ids.toArray()));
      for (var rows = statement.executeQuery(); rows.next(); gone.remove(rows.getLong(1)))
        body.append("{\"index\":{\"_id\":\"" + rows.getLong(1) + "\"}}\n").append(rows.getString(2)).append('\n');
    }
    for (long id : gone) body.append("{\"delete\":{\"_id\":\"" + id + "\"}}\n");
    var request = HttpRequest.newBuilder(bulk).header("content-type", "application/x-ndjson")
        .POST(HttpRequest.BodyPublishers.ofString(body.toString())).build();
    return http.sendAsync(request, HttpResponse.BodyHandlers.ofString()).thenAccept(reply -> {
      if (!reply.body().contains("\"errors\":false")) throw new IllegalStateException("bulk: " + reply.body());
    });
  }

  static void apply(List<ChangeEvent<String, String>> events) throws Exception {
    var posts = new LinkedHashSet<Long>();
    var users = new HashSet<Long>();
    for (var event : events) {
      long id = Long.parseLong(event.key().replaceAll("\\D", ""));
      if (event.destination().endsWith(".posts")) posts.add(id);
      // A snapshot reads every post as well.
      else if (event.value() == null || !event.value().contains("\"op\":\"r\"")) users.add(id);
    }
    if (!users.isEmpty()) posts.addAll(numbers("select id from blog.posts where user_id = any(?)", users));
    var all = new ArrayList<>(posts);
    var sent = new ArrayList<CompletableFuture<Void>>();
    for (int i = 0; i < all.size(); i += BULK_DOCUMENTS) sent.add(write(all.subList(i, Math.min(i + BULK_DOCUMENTS, all.size()))));
    for (var each : sent) each.join();
  }

  public static void main(String[] arguments) throws Exception {
    var properties = new Properties();
    try (var file = new FileInputStream(arguments[0])) { properties.load(file); }
    database = DriverManager.getConnection(arguments[1]);
    bulk = URI.create(arguments[2]);
    var engine = DebeziumEngine.create(Json.class).using(properties).notifying((events, committer) -> {
      try { apply(events); } catch (Exception error) { throw new IllegalStateException(error); }
      for (var event : events) committer.markProcessed(event);
      committer.markBatchFinished();
    }).using((success, message, error) -> {
      if (!success) System.err.println(message + ": " + error);
      Runtime.getRuntime().halt(success ? 0 : 1);
    }).build();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> { try { engine.close(); } catch (Exception error) { } }));
    engine.run();
  }
}
