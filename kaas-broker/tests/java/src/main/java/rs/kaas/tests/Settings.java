package rs.kaas.tests;

import java.util.Properties;

/** Words of the form key=value, as programs and commands here take them. */
final class Settings {
    private Settings() {}

    static Properties parse(String[] words, int from) {
        Properties properties = new Properties();
        for (int i = from; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            properties.setProperty(words[i].substring(0, equals), words[i].substring(equals + 1));
        }
        return properties;
    }

    /** Takes one setting out, so that what is left can be given to a Kafka client. */
    static String take(Properties properties, String key) {
        return (String) properties.remove(key);
    }
}
