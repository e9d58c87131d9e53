ALTER TABLE `fields` ADD `text_column` text;--> statement-breakpoint
ALTER TABLE `fields` ADD `text_position` BIGINT;