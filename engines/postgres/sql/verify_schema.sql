-- Keys and block numbers are permutations of the same ranks, so their correlation is Spearman's.
SELECT count(*) AS rows, count(DISTINCT block) AS blocks, count(DISTINCT k) AS keys, min(k) AS least, max(k) AS most,
       coalesce(corr(k, block), 0) AS correlation
FROM (SELECT k, ((ctid::text)::point)[0]::bigint AS block FROM {{table}}) AS placed
