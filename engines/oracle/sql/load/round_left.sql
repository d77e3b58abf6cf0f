(SELECT MOD(l + MOD(MOD((r + {plus}) * (r + {plus}), 2147483647) * {times}, 2147483629), {left}) AS l, r, seq
    FROM {before})
