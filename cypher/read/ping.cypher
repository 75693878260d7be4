// One row: the server's clock. Also the first query after a start, so that the next one is fast.
RETURN datetime.realtime() AS now
