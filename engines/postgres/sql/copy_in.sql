COPY {{table}} (k, seq, f1, f2, f3, f4, f5, f6, f7, f8, mark, tail) FROM STDIN WITH (FORMAT binary, FREEZE)
