-- Error diffusion: operation i is an update when (i * share + phase) / 10000 steps up after it.
        next_update := (((op * {{share}} + {{phase}}) / 10000 + 1) * 10000 - {{phase}} + {{share}} - 1) / {{share}} - 1;
        run := least(run, next_update - op);
