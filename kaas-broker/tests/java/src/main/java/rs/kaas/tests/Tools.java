package rs.kaas.tests;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs Apache Kafka's shell tools one after the other in this process, which saves starting Java for each. Each line of standard input is the tool's class
 * and its arguments, separated by tabs. What the tool prints follows on standard output, then a line with {@code status} and a number.
 */
public final class Tools {
    private Tools() {}

    /** What a tool throws here in place of leaving. */
    private static final class Left extends Error {
        private static final long serialVersionUID = 1;
        private final int status;

        Left(int status) {
            super(null, null, false, false);
            this.status = status;
        }
    }

    public static void main(String[] words) throws IOException {
        PrintStream answers = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        // Set once and before a tool is loaded: Scala keeps the first that it sees.
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        Exit.setExitProcedure((status, message) -> leave(status));
        Exit.setHaltProcedure((status, message) -> leave(status));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] command = line.split("\t");
            int status = run(command[0], Arrays.copyOfRange(command, 1, command.length));
            String text = printed.toString(StandardCharsets.UTF_8);
            printed.reset();
            answers.print(text.isEmpty() || text.endsWith("\n") ? text : text + "\n");
            answers.println("status " + status);
            answers.flush();
        }
    }

    private static void leave(int status) {
        throw new Left(status);
    }

    private static int run(String tool, String[] arguments) {
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) arguments);
            return 0;
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof Left left) {
                return left.status;
            }
            error.getCause().printStackTrace();
            return 1;
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException(tool, error);
        }
    }
}
