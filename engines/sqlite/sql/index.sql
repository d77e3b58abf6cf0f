CREATE UNIQUE INDEX blocks_{schema}_k ON blocks_{schema} (k);
