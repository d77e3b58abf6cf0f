-- The same among the reads, for scans.
        reads := op - {{updates_before}};
        run := least(run, (((reads * {{share}} + {{phase}}) / 10000 + 1) * 10000 - {{phase}} + {{share}} - 1) / {{share}} - 1 - reads);
