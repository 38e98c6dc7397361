// Writes a report of three chapters alone, under a lock of its name: java Report.java http://127.0.0.1:9200 sales 3
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

class Report {
  static final String BODY = """
      {"upsert": {"fence": 0, "chapters": []}, "scripted_upsert": true, "script": {
        "source": "if (ctx._source.fence > params.token) { ctx.op = 'noop' }\
       else { ctx._source.fence = params.token; ctx._source.chapters.add(params.chapter) }",
        "params": {"token": %s, "chapter": %d}}}""";

  public static void main(String[] arguments) throws Exception {
    String url = arguments[0];
    String name = arguments[1];
    int chapters = Integer.parseInt(arguments[2]);

    Process held = new ProcessBuilder("lockstep", "lock", "--exclusive", name, "--wait", "5m", "--hold")
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    // Ends the work with lockstep: 4 when the lock was not to be had, 1 when it is lost, 0 when we are done.
    held.onExit().thenAccept(ended -> Runtime.getRuntime().halt(ended.exitValue()));
    String line = held.inputReader().readLine();
    if (line == null) System.exit(held.waitFor());
    String token = line.replaceFirst(".*\"token\":\\s*(\\d+).*", "$1");

    HttpClient client = HttpClient.newHttpClient();
    for (int chapter = 1; chapter <= chapters; ++chapter) {
      Thread.sleep(100); // the work
      var request = HttpRequest.newBuilder(URI.create(url + "/" + name + "/_update/1?retry_on_conflict=9"))
          .header("Content-Type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString(BODY.formatted(token, chapter))).build();
      var reply = client.send(request, BodyHandlers.ofString());
      if (reply.statusCode() / 100 != 2) throw new IllegalStateException(reply.body());
      if (reply.body().contains("\"result\":\"noop\"")) throw new IllegalStateException("somebody has written under a later lock");
    }

    held.outputWriter().close();
    System.exit(held.waitFor());
  }
}
