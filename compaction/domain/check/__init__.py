"""How a check is put together and read: what is planted among the claims, and what an answer to it proves.

All of it is a function of stored inputs: the same claims, source and seed make the same requests, and the same answers
the same verdicts, in any process (design.md section 8, "The check").
"""
