package rs.kaas.tests;

/** What a program tells its test: lines of words on standard output, whole and in the order in which things happened. */
final class Events {
    private Events() {}

    static void tell(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) {
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        synchronized (Events.class) {
            System.out.println(line);
            System.out.flush();
        }
    }

    /** An exception as one word after the other, without line ends. */
    static String oneLine(Throwable error) {
        return (error.getClass().getSimpleName() + ": " + error.getMessage()).replaceAll("\\s+", " ");
    }
}
