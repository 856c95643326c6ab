package rs.kaas.tests;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;

/**
 * An application of Kafka Streams, until its standard input ends: {@code Streams count|join input=... output=... key=value...} with Streams
 * properties. It tells its state whenever that changes.
 */
public final class Streams {
    /** How far apart in time two records may be to be joined. */
    private static final Duration WINDOW = Duration.ofMillis(120);

    private Streams() {}

    public static void main(String[] words) throws IOException {
        Properties properties = Settings.parse(words, 1);
        String input = Settings.take(properties, "input");
        String output = Settings.take(properties, "output");
        properties.setProperty("default.key.serde", Serdes.StringSerde.class.getName());
        properties.setProperty("default.value.serde", Serdes.StringSerde.class.getName());
        // Without a cache every change of a count is a record.
        properties.setProperty("statestore.cache.max.bytes", "0");
        Topology topology = words[0].equals("count") ? count(input, output) : join(input, output);
        try (KafkaStreams streams = new KafkaStreams(topology, properties)) {
            streams.setStateListener((now, before) -> Events.tell("state", now));
            streams.setUncaughtExceptionHandler(error -> {
                Events.tell("failed", Events.oneLine(error));
                error.printStackTrace();
                return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
            });
            streams.start();
            System.in.transferTo(OutputStream.nullOutputStream());
        }
    }

    /** Counts the words of all lines. */
    private static Topology count(String input, String output) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(input)
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word)
            .count()
            .toStream()
            .mapValues(String::valueOf)
            .to(output);
        return builder.build();
    }

    /** Joins the records of two topics, INPUT-left and INPUT-right, that have the same key and are near in time. */
    private static Topology join(String input, String output) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> left = builder.stream(input + "-left");
        KStream<String, String> right = builder.stream(input + "-right");
        left.join(right, (l, r) -> l + "+" + r, JoinWindows.ofTimeDifferenceAndGrace(WINDOW, Duration.ofHours(1))).to(output);
        return builder.build();
    }
}
