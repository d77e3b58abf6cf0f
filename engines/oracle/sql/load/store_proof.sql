/* mindful store_proof */
UPDATE {registry} SET proof = :proof WHERE table_name = :name
