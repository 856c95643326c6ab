// Writes messages with Apache Kafka's own classes, and says what they make of
// other people's bytes. See ../../../../golden/README.md.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;

public class GoldenMessages {
    // EMPTY: null or else the shortest and smallest of everything, no tags.
    // TYPICAL: a bit of all, by chance. FULL: nothing is null, empty or left out.
    enum Case { EMPTY, TYPICAL, FULL }

    static final HexFormat HEX = HexFormat.of();
    static final Random RANDOM = new Random();
    static Case wanted;

    // write KEY ...: "request|response KEY VERSION CASE FRAME" for each key, version, case
    // versions: "KEY VERSION REQUEST-HEADER RESPONSE-HEADER" for each key and version
    // judge: reads "KEY VERSION BODY" lines, answers "ok BODY", "ok unwritable" or "refused WHY"
    public static void main(String[] args) throws Exception {
        if (args[0].equals("judge")) {
            judge();
            return;
        }
        if (args[0].equals("versions")) {
            versions();
            return;
        }
        for (int i = 1; i < args.length; i++) {
            ApiKeys key = ApiKeys.forId(Integer.parseInt(args[i]));
            for (short version = 0; version <= key.latestVersion(); version++) {
                for (Case each : Case.values()) {
                    wanted = each;
                    // A message does not depend on which others are written.
                    RANDOM.setSeed(key.id * 1000 + version * 10 + each.ordinal());
                    print("request", key, version, request(key, version));
                    print("response", key, version, response(key, version));
                }
            }
        }
    }

    // Kafka reads unsorted unknown tags and then cannot write them.
    static String written(ApiMessage message, short version) {
        try {
            return HEX.formatHex(bytes(message, version));
        } catch (RuntimeException e) {
            return "unwritable";
        }
    }

    static void versions() {
        for (ApiKeys key : ApiKeys.values()) {
            for (short version = key.oldestVersion(); version <= key.latestVersion(); version++) {
                System.out.println(key.id + " " + version + " "
                    + key.requestHeaderVersion(version) + " " + key.responseHeaderVersion(version));
            }
        }
    }

    static void print(String what, ApiKeys key, short version, byte[] frame) {
        System.out.println(what + " " + key.id + " " + version + " "
            + wanted.name().toLowerCase() + " " + HEX.formatHex(frame));
    }

    static byte[] request(ApiKeys key, short version) throws Exception {
        short headerVersion = key.requestHeaderVersion(version);
        RequestHeaderData header = new RequestHeaderData()
            .setRequestApiKey(key.id).setRequestApiVersion(version)
            .setCorrelationId(RANDOM.nextInt()).setClientId(wanted == Case.EMPTY ? null : word());
        ApiMessage body = key.messageType.newRequest();
        body.read(new ByteBufferAccessor(random(key.messageType.requestSchemas()[version])), version);
        return concatenate(bytes(header, headerVersion), bytes(body, version));
    }

    static byte[] response(ApiKeys key, short version) throws Exception {
        ResponseHeaderData header = new ResponseHeaderData().setCorrelationId(RANDOM.nextInt());
        ApiMessage body = key.messageType.newResponse();
        body.read(new ByteBufferAccessor(random(key.messageType.responseSchemas()[version])), version);
        return concatenate(bytes(header, key.responseHeaderVersion(version)), bytes(body, version));
    }

    static byte[] bytes(ApiMessage message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        return buffer.array();
    }

    static byte[] concatenate(byte[] a, byte[] b) {
        return ByteBuffer.allocate(a.length + b.length).put(a).put(b).array();
    }

    static ByteBuffer random(Schema schema) throws Exception {
        Struct struct = (Struct) value(schema);
        ByteBuffer buffer = ByteBuffer.allocate(struct.sizeOf());
        struct.writeTo(buffer);
        buffer.flip();
        return buffer;
    }

    static Object value(Type type) throws Exception {
        if (type.isNullable() && occurs(wanted != Case.FULL, 4)) {
            return null;
        }
        if (type.isArray()) {
            Object[] elements = new Object[number(0, 1 + RANDOM.nextInt(2), 2)];
            for (int i = 0; i < elements.length; i++) {
                elements[i] = value(type.arrayElementType().get());
            }
            return elements;
        }
        if (type instanceof Schema) {
            Struct struct = new Struct((Schema) type);
            for (BoundField field : ((Schema) type).fields()) {
                struct.set(field, value(field.def.type));
            }
            return struct;
        }
        if (type instanceof TaggedFields) {
            return tags((TaggedFields) type);
        }
        if (type.toString().endsWith("RECORDS")) {
            return records(type);
        }
        return plain(type.toString());
    }

    static Object tags(TaggedFields type) throws Exception {
        Field fields = TaggedFields.class.getDeclaredField("fields");
        fields.setAccessible(true);
        TreeMap<Integer, Object> values = new TreeMap<>();
        for (Object entry : ((Map<?, ?>) fields.get(type)).entrySet()) {
            Map.Entry<?, ?> known = (Map.Entry<?, ?>) entry;
            if (occurs(wanted == Case.FULL, 2)) {
                Type of = ((org.apache.kafka.common.protocol.types.Field) known.getValue()).type;
                values.put((Integer) known.getKey(), value(of));
            }
        }
        if (occurs(wanted == Case.FULL, 4)) {
            values.put(1000, new RawTaggedField(1000, word().getBytes()));
        }
        return values;
    }

    // The class of records moved between versions; reading some avoids its name.
    static Object records(Type type) {
        byte[] content = word().getBytes();
        byte[] length = type.toString().startsWith("COMPACT")
            ? new byte[] {(byte) (content.length + 1)}
            : ByteBuffer.allocate(4).putInt(content.length).array();
        return type.read(ByteBuffer.wrap(concatenate(length, content)));
    }

    static Object plain(String type) {
        if (type.endsWith("STRING")) {
            return word();
        }
        if (type.endsWith("BYTES")) {
            return ByteBuffer.wrap(word().getBytes());
        }
        switch (type) {
            case "BOOLEAN": return number(0, RANDOM.nextInt(2), 1) == 1;
            case "INT8": return (byte) bits();
            case "INT16": return (short) bits();
            case "UINT16": return (int) bits() & 0xffff;
            case "INT32": return (int) bits();
            case "INT64": return bits();
            case "FLOAT64": return wanted == Case.EMPTY ? 0.0 : RANDOM.nextDouble();
            case "UUID": return new Uuid(bits(), bits());
            default: throw new IllegalArgumentException("no value for " + type);
        }
    }

    static String word() {
        return String.valueOf((char) ('a' + RANDOM.nextInt(26))).repeat(number(0, RANDOM.nextInt(9), 3));
    }

    static long bits() {
        return wanted == Case.EMPTY ? 0 : RANDOM.nextLong();
    }

    static int number(int empty, int typical, int full) {
        return wanted == Case.EMPTY ? empty : wanted == Case.FULL ? full : typical;
    }

    // What one message in so many has is certain or impossible in the others.
    static boolean occurs(boolean certain, int oneIn) {
        return wanted == Case.TYPICAL ? RANDOM.nextInt(oneIn) == 0 : certain;
    }

    static void judge() throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", -1);
            short version = Short.parseShort(words[1]);
            ApiKeys key = ApiKeys.forId(Integer.parseInt(words[0]));
            try {
                ApiMessage message = key.messageType.newRequest();
                message.read(new ByteBufferAccessor(ByteBuffer.wrap(HEX.parseHex(words[2]))), version);
                System.out.println("ok " + written(message, version));
            } catch (Exception e) {
                System.out.println("refused " + e);
            }
        }
    }
}
