-- A remembered answer may hold for a time only.

ALTER TABLE "grant" ADD COLUMN expires INTEGER;
