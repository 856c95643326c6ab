package rs.kaas.tests;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;

/** One member of a group: it tells each record that it reads, then commits it, then tells that. */
final class Member implements Runnable, ConsumerRebalanceListener {
    private final String name;
    private final String topic;
    private final Properties properties;
    private KafkaConsumer<String, String> consumer;
    /** What was read and is not committed yet. */
    private final Map<TopicPartition, OffsetAndMetadata> open = new HashMap<>();
    private int generation = -1;
    private volatile boolean running = true;
    private final AtomicLong stall = new AtomicLong();

    Member(String name, String topic, Properties properties) {
        this.name = name;
        this.topic = topic;
        this.properties = properties;
    }

    void stop() {
        running = false;
    }

    /** Makes the member sleep once, in ms, between reading records and committing them. */
    void stall(long duration) {
        stall.set(duration);
    }

    @Override
    public void run() {
        try (KafkaConsumer<String, String> made = new KafkaConsumer<>(properties)) {
            consumer = made;
            consumer.subscribe(List.of(topic), this);
            while (running) {
                handle(consumer.poll(Duration.ofMillis(100)));
            }
        } catch (RuntimeException error) {
            Events.tell("failed", name, Events.oneLine(error));
        }
        Events.tell("closed", name);
    }

    private void handle(ConsumerRecords<String, String> records) {
        tellGeneration();
        for (ConsumerRecord<String, String> record : records) {
            Events.tell("record", name, record.partition(), record.offset());
            open.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
        }
        commit();
    }

    /** Commits what is open. What a rebalance keeps from being committed stays open, since the partition may stay here. */
    private void commit() {
        if (open.isEmpty()) {
            return;
        }
        try {
            Thread.sleep(stall.getAndSet(0));
            consumer.commitSync(open);
            open.forEach((partition, offset) -> Events.tell("committed", name, partition.partition(), offset.offset()));
            open.clear();
        } catch (CommitFailedException | RebalanceInProgressException | RetriableException error) {
            Events.tell("refused", name, Events.oneLine(error));
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    private void tellGeneration() {
        int now = consumer.groupMetadata().generationId();
        if (now != generation && now >= 0) {
            generation = now;
            Events.tell("generation", name, generation, consumer.groupMetadata().memberId());
        }
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        tellGeneration();
        for (TopicPartition partition : partitions) {
            Events.tell("assigned", name, partition.partition(), consumer.position(partition));
        }
        Events.tell("rebalanced", name, partitions.size());
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        commit();
        gone("revoked", partitions);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        gone("lost", partitions);
    }

    private void gone(String event, Collection<TopicPartition> partitions) {
        partitions.forEach(partition -> Events.tell(event, name, partition.partition()));
        open.keySet().removeAll(partitions);
    }
}
