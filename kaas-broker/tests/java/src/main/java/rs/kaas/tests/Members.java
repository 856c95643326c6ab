package rs.kaas.tests;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Members of one group in one process: {@code Members topic=... bootstrap.servers=... group.id=...}. Each line of standard input is
 * {@code start NAME key=value...}, with more consumer properties, {@code stop NAME}, or {@code stall NAME MS}. The end of input stops all.
 */
public final class Members {
    private final Properties settings;
    private final String topic;
    private final Map<String, Member> members = new HashMap<>();
    private final Map<String, Thread> threads = new HashMap<>();

    private Members(Properties settings) {
        this.topic = Settings.take(settings, "topic");
        this.settings = settings;
    }

    public static void main(String[] words) throws IOException, InterruptedException {
        Properties settings = Settings.parse(words, 0);
        settings.setProperty("key.deserializer", StringDeserializer.class.getName());
        settings.setProperty("value.deserializer", StringDeserializer.class.getName());
        settings.setProperty("enable.auto.commit", "false");
        settings.setProperty("auto.offset.reset", "earliest");
        new Members(settings).obey(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)));
    }

    private void obey(BufferedReader commands) throws IOException, InterruptedException {
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "start" -> start(words);
                case "stall" -> members.get(words[1]).stall(Long.parseLong(words[2]));
                case "stop" -> members.get(words[1]).stop();
                default -> throw new IllegalArgumentException(line);
            }
        }
        members.values().forEach(Member::stop);
        for (Thread thread : threads.values()) {
            thread.join();
        }
    }

    private void start(String[] words) throws InterruptedException {
        String name = words[1];
        if (threads.containsKey(name)) {
            threads.get(name).join();
        }
        Properties properties = Settings.parse(words, 2);
        settings.forEach(properties::putIfAbsent);
        properties.putIfAbsent("client.id", name);
        Member member = new Member(name, topic, properties);
        Thread thread = new Thread(member, name);
        members.put(name, member);
        threads.put(name, thread);
        thread.start();
    }
}
