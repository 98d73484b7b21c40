"""Reads a CSV with DuckDB into one row per individual with lists. Prints JSON: cpu and wall seconds, rows."""
import json, sys, time
import duckdb

con = duckdb.connect()
con.execute("SET threads=2")
t, w = time.process_time(), time.perf_counter()
con.execute(f"CREATE TABLE v AS SELECT id, list(time ORDER BY time) t, list(value ORDER BY time) y FROM read_csv('{sys.argv[1]}') GROUP BY id")
n = con.execute("SELECT count(*) FROM v").fetchone()[0]
print(json.dumps({"cpu": time.process_time() - t, "wall": time.perf_counter() - w, "individuals": n}))
