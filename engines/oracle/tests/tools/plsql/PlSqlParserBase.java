import java.util.Set;
import org.antlr.v4.runtime.Parser;
import org.antlr.v4.runtime.TokenStream;

/** What the grammar's parser asks for: the newest release, and two looks ahead. */
public abstract class PlSqlParserBase extends Parser {
    private static final Set<String> JOINS = Set.of("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "OUTER");
    private static final Set<String> NUMERIC =
            Set.of("SUM", "COUNT", "AVG", "MIN", "MAX", "ROUND", "LEAST", "GREATEST");

    protected PlSqlParserBase(TokenStream input) {
        super(input);
    }

    protected boolean isVersion10() {
        return true;
    }

    protected boolean isVersion11() {
        return true;
    }

    protected boolean isVersion12() {
        return true;
    }

    protected boolean isNotStartOfJoin() {
        return !JOINS.contains(next(1));
    }

    protected boolean IsNotNumericFunction() {
        return !(NUMERIC.contains(next(1)) && next(2).equals("("));
    }

    private String next(int ahead) {
        return _input.LT(ahead).getText().toUpperCase();
    }
}
