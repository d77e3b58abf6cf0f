/* mindful histogram */
SELECT event, wait_time_micro, wait_count FROM v$event_histogram_micro
WHERE event IN ({names}) OR event LIKE 'cell single block physical read%'
