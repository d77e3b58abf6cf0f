/* mindful enter */
BEGIN
    DBMS_APPLICATION_INFO.SET_MODULE(:module, :action);
END;
