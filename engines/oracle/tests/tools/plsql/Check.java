import java.io.File;
import java.nio.file.Files;
import java.util.Arrays;
import org.antlr.v4.runtime.BaseErrorListener;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.Parser;
import org.antlr.v4.runtime.RecognitionException;
import org.antlr.v4.runtime.Recognizer;

/** Parses each file of a folder: a line each, `NAME ok` or `NAME LINE:COLUMN MESSAGE`. */
public final class Check {
    public static void main(String[] args) throws Exception {
        File[] files = new File(args[0]).listFiles();
        Arrays.sort(files);
        for (File file : files) {
            System.out.println(file.getName() + " " + fault(Files.readString(file.toPath())));
        }
    }

    private static String fault(String text) {
        String[] first = {null};
        BaseErrorListener listener = new BaseErrorListener() {
            @Override
            public void syntaxError(Recognizer<?, ?> of, Object symbol, int line, int at, String what,
                    RecognitionException error) {
                if (first[0] == null) {
                    first[0] = line + ":" + at + " " + what.replace('\n', ' ');
                }
            }
        };
        PlSqlLexer lexer = new PlSqlLexer(CharStreams.fromString(text));
        lexer.removeErrorListeners();
        lexer.addErrorListener(listener);
        PlSqlParser parser = new PlSqlParser(new CommonTokenStream(lexer));
        parser.removeErrorListeners();
        parser.addErrorListener(listener);
        parser.sql_script();
        return first[0] == null ? "ok" : first[0];
    }
}
