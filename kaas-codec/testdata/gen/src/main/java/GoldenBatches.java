// Writes the golden files of package batch, into the folder that it is given, with Apache Kafka's own classes. The output does not depend on time or
// chance; only the compressed bytes may differ between versions of the compression libraries.

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.Time;

public class GoldenBatches {
    static final long BASE_TIME = 1700000000000L;
    static final int COUNT = 40;

    static Path folder;

    public static void main(String[] args) throws Exception {
        folder = Path.of(args[0]);
        Files.createDirectories(folder);
        for (CompressionType codec : CompressionType.values()) {
            write("v2-" + codec.name, batch((byte) 2, codec, TimestampType.CREATE_TIME, 0));
            if (codec == CompressionType.ZSTD)
                continue;
            for (byte magic = 0; magic < 2; magic++) {
                write("v" + magic + "-" + codec.name, batch(magic, codec, TimestampType.CREATE_TIME, 0));
                downConverted(magic, codec, TimestampType.CREATE_TIME, "");
            }
            write("v1-" + codec.name + "-appendtime", batch((byte) 1, codec, TimestampType.LOG_APPEND_TIME, 0));
            downConverted((byte) 1, codec, TimestampType.LOG_APPEND_TIME, "-appendtime");
        }
        write("v2-appendtime", batch((byte) 2, CompressionType.NONE, TimestampType.LOG_APPEND_TIME, 0));
        write("v2-transactional", transactional());
        write("control-commit", marker(ControlRecordType.COMMIT));
        write("control-abort", marker(ControlRecordType.ABORT));
    }

    // A v2 batch at offset 1000 and what Kafka makes of it for an old fetch.
    static void downConverted(byte magic, CompressionType codec, TimestampType type, String suffix) throws Exception {
        MemoryRecords source = batch((byte) 2, codec, type, 1000);
        write("down-source-" + codec.name + suffix, source);
        write("down-v" + magic + "-" + codec.name + suffix,
            (MemoryRecords) source.downConvert(magic, 0, Time.SYSTEM).records());
    }

    // Record i: key "key-i" (null for every fifth), value "value-i " repeated (null for every seventh),
    // time BASE_TIME + 3 * (i ^ 1), two headers for every third in v2.
    static List<SimpleRecord> records(byte magic) {
        List<SimpleRecord> records = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            byte[] key = i % 5 == 4 ? null : bytes("key-" + i);
            byte[] value = i % 7 == 6 ? null : bytes(("value-" + i + " ").repeat(i));
            Header[] headers = magic == 2 && i % 3 == 2
                ? new Header[] {new RecordHeader("name-" + i, bytes("text")), new RecordHeader("", (byte[]) null)}
                : new Header[0];
            records.add(new SimpleRecord(BASE_TIME + 3L * (i ^ 1), key, value, headers));
        }
        return records;
    }

    static MemoryRecords batch(byte magic, CompressionType codec, TimestampType type, long baseOffset) {
        MemoryRecordsBuilder builder = MemoryRecords.builder(ByteBuffer.allocate(1 << 16), magic, codec, type,
            baseOffset, BASE_TIME + 1000);
        for (SimpleRecord record : records(magic))
            builder.append(record);
        return builder.build();
    }

    static MemoryRecords transactional() {
        return MemoryRecords.withTransactionalRecords(CompressionType.NONE, 4711L, (short) 3, Integer.MAX_VALUE - 1,
            records((byte) 2).toArray(new SimpleRecord[0]));
    }

    static MemoryRecords marker(ControlRecordType type) {
        return MemoryRecords.withEndTransactionMarker(77L, BASE_TIME, RecordBatch.NO_PARTITION_LEADER_EPOCH,
            4711L, (short) 3, new EndTransactionMarker(type, 9));
    }

    static void write(String name, MemoryRecords records) throws Exception {
        byte[] out = new byte[records.buffer().remaining()];
        records.buffer().duplicate().get(out);
        Files.write(folder.resolve(name + ".bin"), out);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
