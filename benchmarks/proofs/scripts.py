"""What is said in the proofs."""

from __future__ import annotations

from benchmarks.scenes import Exchange, concludes, opens

GREETING = Exchange(
    user="Morning. Coffee first, then work.",
    reply="Good morning. Say what comes first when the cup is empty.",
)
# Somewhat less than the author's own run of this proof had, which was 1,400 tokens of work.
SEARCH_PAGE = (
    Exchange(
        user="Our product search takes 6 seconds since the weekend. Let's find out why.",
        reply="I opened an effort for it. Before guessing: is it slow for every query, and what does the database say? "
        "`EXPLAIN (ANALYZE, BUFFERS)` on the slowest statement shows whether an index is used at all.",
        acts=(opens("slow search"),),
    ),
    Exchange(
        user="""For every query. Here is the plan:

```
Seq Scan on products  (cost=0.00..48211.30 rows=1 width=412) (actual time=5871.220..5912.004 rows=18 loops=1)
  Filter: (lower(title) ~~ '%kettle%'::text)
  Rows Removed by Filter: 912374
Planning Time: 0.21 ms
Execution Time: 5912.31 ms
```""",
        reply="""A sequential scan over 912,392 rows: no index fits `lower(title) LIKE '%…%'`, because the pattern \
begins with a wildcard. Up to Friday the catalogue was small enough that nobody noticed. Two ways out:

1. a trigram index (`pg_trgm`, GIN on `lower(title)`), which answers the same statement;
2. full-text search, which ranks better but needs another query and other expectations.

The first is one migration and no change in the code.""",
    ),
    Exchange(
        user="The import on Saturday brought 900,000 titles of the new supplier, that explains it. Can the index be "
        "built without locking the table? The shop is open.",
        reply="""Yes, with `CREATE INDEX CONCURRENTLY`, outside a transaction:

```python
class Migration(migrations.Migration):
    atomic = False
    dependencies = [("shop", "0041_supplier")]
    operations = [
        TrigramExtension(),
        AddIndexConcurrently(
            "product",
            GinIndex(OpClass(Lower("title"), name="gin_trgm_ops"), name="product_title_trgm"),
        ),
    ]
```

It takes longer than a plain build, a few minutes here, and leaves an invalid index behind if it fails: check \
`pg_index.indisvalid` afterwards.""",
    ),
    Exchange(
        user="""On staging it stopped half way:

```
django.db.utils.OperationalError: canceling statement due to lock timeout
CONTEXT:  while waiting for ShareLock on transaction 88123402
SQL:      CREATE INDEX CONCURRENTLY product_title_trgm ON products USING gin (lower(title) gin_trgm_ops)
```""",
        reply="""A concurrent build waits for every transaction that is older than itself. Somebody has one open: look \
for the oldest before trying again, and drop what the first try left behind.

```sql
SELECT pid, now() - xact_start AS age, state, left(query, 60)
FROM pg_stat_activity WHERE xact_start IS NOT NULL ORDER BY xact_start LIMIT 5;
DROP INDEX CONCURRENTLY IF EXISTS product_title_trgm;
```

Then raise the limit for this session only: `SET lock_timeout = '10min'`.""",
    ),
    Exchange(
        user="It was the nightly report, idle in a transaction for 3 hours. I ended it, and staging went through.",
        reply="Then give that report a limit of its own, so that it cannot hold up the build on production as well: "
        "`ALTER ROLE report SET idle_in_transaction_session_timeout = '5min'`. A report that reads in one go never "
        "comes near it.",
    ),
    Exchange(
        user="Done, the role has 5 minutes. On production the index was built in 4 minutes 10, indisvalid is true. Now "
        "a search takes 80 ms, but two-letter queries still take 3 seconds.",
        reply="Trigrams need three characters: with two there is nothing to look up, and the scan is back. Either ask "
        "for three letters in the form, or answer two-letter queries by prefix only, with a `text_pattern_ops` index "
        "on `lower(title)`. Hardly anybody searches for two letters on purpose, so I would ask for three.",
    ),
    Exchange(
        user="We decided on three letters as the minimum. How do we say it in the form and in the API?",
        reply="""In one place, so that both say the same:

```python
MIN_QUERY = 3


class SearchForm(forms.Form):
    q = forms.CharField(min_length=MIN_QUERY, strip=True)


def search(request):
    form = SearchForm(request.GET)
    if not form.is_valid():
        return JsonResponse({"error": f"Give at least {MIN_QUERY} letters."}, status=400)
    return JsonResponse({"hits": [hit.as_json() for hit in find(form.cleaned_data["q"])]})
```

`minlength="3"` in the template comes from the field by itself.""",
    ),
    Exchange(
        user="Built like that and deployed. The API answers 400 below three letters.",
        reply="Clear on both sides. Still open: an alert when the slowest search of an hour takes over 500 ms, so that "
        "the next import is noticed before the customers notice it.",
    ),
)
CLOSING = Exchange(
    user="The search is fast again, 80 ms at the median. That problem is solved.",
    reply="Concluded: a trigram index on the title, and three letters as the minimum.",
    acts=(concludes(),),
)


AUTH_BUG = (
    Exchange(
        user="Users are thrown out after an hour with a 401. Let's track that down.",
        reply="I opened an effort. What are the lifetimes of the tokens, and who renews them?",
        acts=(opens("auth bug"),),
    ),
    Exchange(
        user="Access 3600 s, refresh 30 days, and nobody asks for the second one. The client code:\n\n```ts\n"
        "export async function call(path: string) {\n"
        "  const answer = await fetch(base + path, { headers: bearer(token.access) });\n"
        "  if (answer.status === 401) signOut();\n  return answer;\n}\n```",
        reply="There it is: the first 401 signs out, instead of renewing. Renew 300 seconds before the end, once for "
        "all calls that wait, and sign out only when the renewal itself is refused:\n\n```ts\n"
        "if (token.endsIn() < 300) await renewOnce();\n"
        "const answer = await fetch(base + path, { headers: bearer(token.access) });\n"
        "if (answer.status === 401 && !(await renewOnce())) signOut();\n```",
    ),
    Exchange(
        user="Works: a session of three hours stayed in, with renewals at 55 and 110 minutes. The bug is fixed.",
        reply="Concluded: tokens are renewed 300 seconds early, one renewal for all waiting calls.",
        acts=(concludes(),),
    ),
)
PERF_FIX = (
    Exchange(
        user="The start page needs 2.4 seconds. Help me to make it faster.",
        reply="An effort is open. How many queries does it make?",
        acts=(opens("perf fix"),),
    ),
    Exchange(
        user="214, one for each card and one for each author.",
        reply="Read the cards with `select_related('author')` and the counts with one annotation: that makes 3 queries "
        "of 214.",
    ),
    Exchange(
        user="3 queries, 190 ms. That is done.",
        reply="Concluded: 214 queries became 3, and 2.4 seconds 190 ms.",
        acts=(concludes(),),
    ),
)
ASKING = Exchange(
    user="How early do we renew the tokens, and what happens to calls that wait?",
    reply="The short answer is in the summary; I bring the log back for the exact code.",
)
ANSWER = Exchange(
    user="Which line decides that somebody is signed out?",
    reply="`if (answer.status === 401 && !(await renewOnce())) signOut();`: only when the renewal is refused as well.",
)
GUILD = Exchange(
    user="Let's build guilds: players found one, invite others, and share a chest.",
    reply="An effort is open. First the roles: founder, officer, member?",
    acts=(opens("guild feature"),),
)
REFACTOR = Exchange(
    user="And in parallel we have to split the API into versions.",
    reply="Another effort is open. By path or by header?",
    acts=(opens("api refactor"),),
)
MESSAGE = Exchange(
    user="Founder and members are enough, and the chest holds 100 items.",
    reply="Two roles, 100 items. Then an invitation needs the founder only.",
)

RECALLING = Exchange(
    user="Something about the auth bug again: what exactly did the client do at the first 401?",
    reply="It signed out: `if (answer.status === 401) signOut();`, without asking for the second token.",
)
FOLLOWING = Exchange(
    user="And in the auth-bug code, what happens when two calls wait at once?",
    reply="Both wait for the same renewal: `renewOnce()` is one promise that all of them share.",
)
# Of what the efforts are about these have one word at most, which is no reference.
UNRELATED = (
    Exchange(
        user="Something else: the kettle in the kitchen leaks. Who orders a new one?",
        reply="Whoever has the card for small purchases. Shall I write the message to the office?",
    ),
    Exchange(
        user="No, thanks. As a token of peace I bring cake tomorrow. Which one keeps best overnight?",
        reply="Lemon cake: glazed, it is as moist in the morning as in the evening.",
    ),
    Exchange(
        user="Lemon then. How much sugar for a tin of 26 centimetres?",
        reply="180 grams in the dough and 100 in the glaze.",
    ),
    Exchange(
        user="And how long in the oven?",
        reply="45 minutes at 170 degrees; a wooden stick tells whether it is done.",
    ),
)
ONCE_MORE = Exchange(
    user="Back to the auth bug: how many seconds early did we say?",
    reply="300 seconds before the end: `if (token.endsIn() < 300) await renewOnce();`",
)
BY_BOTH = Exchange(
    user="Was anybody thrown out with a 401 since?",
    reply="Nobody that you told me of. The auth bug seems to be gone.",
)
COMPARING = Exchange(
    user="And how was that with the cards on the start page?",
    reply="214 queries became 3, by `select_related('author')` and one annotation.",
)
ABOUT_PERF = Exchange(
    user="Did we measure the perf-fix under load as well?",
    reply="No: 190 ms is of a single visit.",
)
QUIET = (
    Exchange(user="Is the meeting room free at four?", reply="From half past four; until then the lawyers have it."),
    Exchange(user="Then half past four. Bring the whiteboard pens.", reply="I cannot carry any, but noted."),
    Exchange(user="Fair. Who has the key to the bicycle cellar?", reply="The porter, until six."),
)

SAILING = Exchange(
    user="Let's plan the sailing trip: four people, Croatia, a week in June.",
    reply="An effort is open. From Split, a Bavaria 46 costs 2,400 euros for the week in June; skipper or bareboat?",
    acts=(opens("sailing trip"),),
)
MIGRATION = Exchange(
    user="Also the db migration: the customer table goes from MySQL 5.7 to PostgreSQL 16.",
    reply="An effort is open. The customer table has 4 million rows: copy it with pgloader, replay the binlog for what "
    "is written meanwhile, and switch over at 03:00 in read-only mode for 90 seconds.",
    acts=(opens("db migration"),),
)
INVOICES = Exchange(
    user="And invoice rounding: 12.03 francs became 12.05 on a card payment.",
    reply="An effort is open. Swiss cash is rounded to five centimes, cards to 0.01: the invoice asks for the wrong "
    "rule. Round by the means of payment, and test it with 12.03.",
    acts=(opens("invoice rounding"),),
)
ALL_DONE = Exchange(
    user="All three are finished: the boat is booked bareboat, the customer table runs on PostgreSQL 16 since 03:00, "
    "and 12.03 francs stay 12.03 by card.",
    reply="Concluded, all three.",
    acts=(concludes("sailing-trip"), concludes("db-migration"), concludes("invoice-rounding")),
)
BOTH = Exchange(
    user="The new hire asks what auth-bug and perf-fix were. One line each?",
    reply="Renewal of tokens 300 seconds early, and 214 queries that became 3.",
)
TOPIC = Exchange(
    user="How long was the shop closed, that night in spring?",
    reply="90 seconds, in read-only mode, at 03:00.",
)
DETAILS = Exchange(
    user="Give me the details of that night, step by step.",
    reply="Copied with pgloader, the binlog replayed for what was written meanwhile, and switched over at 03:00.",
)
MENTION = Exchange(
    user="Was the sailing-trip bareboat?",
    reply="Yes, a Bavaria 46 from Split.",
)
AMBIENT = (
    Exchange(
        user="Which day is the company lunch this month?",
        reply="The last Thursday, at half past twelve, in the garden if the weather allows it and upstairs otherwise.",
    ),
    Exchange(
        user="Give me a word for somebody who arrives early everywhere.",
        reply="Prompt, or punctual. Your grandmother would have said that such a person lives by the church bell.",
    ),
    Exchange(
        user="How do I get coffee stains out of a wool jumper?",
        reply="Cold water and a little vinegar at once, dabbed and never rubbed; then wash it by hand at 30 degrees.",
    ),
    Exchange(
        user="What rhymes with silver?",
        reply="Nothing in common use. Poets take a half rhyme, as in deliver or river, and hope that nobody counts.",
    ),
    Exchange(
        user="Is it worth it to repot a cactus in autumn?",
        reply="Better to wait for March: until then it rests, and roots that were torn would rot in wet earth.",
    ),
    Exchange(
        user="My neighbour plays the trombone at night. What do I say?",
        reply="That you like the tune and not the hour. Offer him one evening a week, and he will keep the others.",
    ),
    Exchange(
        user="How far is it from Porto to Lisbon by train?",
        reply="300 kilometres. The fast train takes most of a morning; book a seat on the right for the sea.",
    ),
    Exchange(
        user="Why do cats knead blankets?",
        reply="As kittens they did it to make milk come. Grown up, they do it where they feel as safe as then.",
    ),
    Exchange(
        user="Give me three names for a small blue rowing boat.",
        reply="Forget-me-not, Thimble, and Second Breakfast. The third one will be asked about in every harbour.",
    ),
    Exchange(
        user="Can bread be frozen in slices?",
        reply="Yes, and it is the best way: from the freezer into the toaster, it tastes as on its first day.",
    ),
)
