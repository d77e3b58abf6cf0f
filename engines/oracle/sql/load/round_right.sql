(SELECT l, MOD(r + MOD(MOD((l + {plus}) * (l + {plus}), 2147483647) * {times}, 2147483629), {right}) AS r, seq
    FROM {before})
