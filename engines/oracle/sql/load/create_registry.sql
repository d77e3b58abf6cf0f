/* mindful create_registry */
CREATE TABLE {registry} (
    table_name VARCHAR2(128) NOT NULL PRIMARY KEY,
    kind VARCHAR2(8) NOT NULL,
    schema_no NUMBER(6) NOT NULL,
    object_id NUMBER,
    blocks NUMBER(12) NOT NULL,
    seed VARCHAR2(20) NOT NULL,
    content VARCHAR2(200) NOT NULL,
    shape NUMBER(4) NOT NULL,
    proof VARCHAR2(4000)
)
