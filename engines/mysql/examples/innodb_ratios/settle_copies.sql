-- Writes back the dirty pages of the copies.
FLUSH TABLES seeded.copy_1, seeded.copy_2, seeded.copy_3, seeded.copy_4 FOR EXPORT;
UNLOCK TABLES
