SELECT coalesce(corr(((a.ctid::text)::point)[0], ((b.ctid::text)::point)[0]), 0) AS correlation
FROM {{one}} AS a JOIN {{other}} AS b USING (k)
