import org.antlr.v4.runtime.CharStream;
import org.antlr.v4.runtime.Lexer;

/** What the grammar's lexer asks for. */
public abstract class PlSqlLexerBase extends Lexer {
    protected PlSqlLexerBase(CharStream input) {
        super(input);
    }

    /** Whether a line ended before the character `offset` from here. */
    protected boolean IsNewlineAtPos(int offset) {
        int before = _input.LA(offset);
        return before == -1 || before == '\n';
    }
}
