/* mindful instance */
SELECT instance_name, version, instance_number, parallel FROM v$instance
