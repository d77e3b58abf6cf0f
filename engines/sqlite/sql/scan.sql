SELECT count(c1) FROM scan_{schema};
