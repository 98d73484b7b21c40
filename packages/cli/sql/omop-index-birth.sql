-- The day of birth; without a day the 15th of the month, without a month the 1st of July.
select
  cast(person_id as bigint) as person_id,
  make_date(
    cast(year_of_birth as int),
    coalesce(cast(month_of_birth as int), 7),
    coalesce(cast(day_of_birth as int), case when month_of_birth is null then 1 else 15 end)
  ) as index_date
from person
