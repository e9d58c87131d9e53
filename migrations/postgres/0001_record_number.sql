ALTER TABLE "changes" ADD COLUMN "record_number" bigint GENERATED ALWAYS AS (
  case when record_id ~ '^(0|-?[1-9][0-9]{0,18})$' then
    case when record_id::numeric between -9223372036854775808 and 9223372036854775807 then record_id::bigint end
  end) STORED;--> statement-breakpoint
ALTER TABLE "issues" ADD COLUMN "record_number" bigint GENERATED ALWAYS AS (
  case when record_id ~ '^(0|-?[1-9][0-9]{0,18})$' then
    case when record_id::numeric between -9223372036854775808 and 9223372036854775807 then record_id::bigint end
  end) STORED;--> statement-breakpoint
CREATE INDEX "changes_by_record_number" ON "changes" USING btree ("record_number");